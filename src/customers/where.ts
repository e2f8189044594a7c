// `--where`: a restriction in words, and what it means by the columns that there are.
import type { Operator } from './condition.ts'

/** As it was said; which column it is about, and of which type that is, the catalog tells. */
export type ParsedWhere = {
  readonly column: string
  readonly operator: Operator
  readonly values: readonly string[]
}

/** A name as SQL has it, in double quotes where it holds anything else. */
const COLUMN = /^\s*(?:"((?:[^"]|"")+)"|([\p{L}_][\p{L}\p{N}_$]*))/u
const NULLS = /^\s+is\s+(not\s+)?null\s*$/i
const COMPARED = /^\s*(!=|<>|<=|>=|=|<|>)\s*(.*)$/su
const LISTED = /^\s+in\s+(.+)$/isu

/**
 * `plan=premium`, `plan in premium,trial`, `premium_until is null`. A value that holds a comma, a quote or spaces at its
 * ends stands in single quotes, doubled inside. Null where it is none of this.
 */
export function parseWhere(text: string): ParsedWhere | null {
  const name = COLUMN.exec(text)
  if (!name) return null
  const column = name[1]?.replaceAll('""', '"') ?? name[2] ?? ''
  const rest = text.slice(name[0].length)
  const nulls = NULLS.exec(rest)
  if (nulls) return { column, operator: nulls[1] ? 'is not null' : 'is null', values: [] }
  const compared = COMPARED.exec(rest)
  if (compared) {
    const values = listOf(compared[2] ?? '', false)
    const operator = compared[1] === '!=' ? '<>' : (compared[1] as Operator)
    return values ? { column, operator, values } : null
  }
  const values = listOf(LISTED.exec(rest)?.[1] ?? '', true)
  return values ? { column, operator: 'in', values } : null
}

const QUOTED = /^\s*'((?:[^']|'')*)'\s*$/su
const ITEM = /\s*(?:'(?:[^']|'')*'|[^',]*)\s*(?:,|$)/suy

/** One value, or several with commas between; null where there is none, or a quote is not closed. */
function listOf(text: string, several: boolean): readonly string[] | null {
  if (!several) return oneOf(text)
  const values: string[] = []
  ITEM.lastIndex = 0
  for (;;) {
    const item = ITEM.exec(text)?.[0]
    if (item === undefined) return null
    const value = oneOf(item.replace(/,$/, ''))
    if (!value) return null
    values.push(...value)
    if (!item.endsWith(',')) return values
  }
}

/** So begins what is meant otherwise: `==`, a name in quotes, a second operator. As a value it stands in single quotes. */
const NO_VALUE = /^["=<>!]/

function oneOf(text: string): readonly [string] | null {
  const quoted = QUOTED.exec(text)
  if (quoted) return [(quoted[1] ?? '').replaceAll("''", "'")]
  const plain = text.trim()
  return plain === '' || plain.startsWith("'") || NO_VALUE.test(plain) ? null : [plain]
}
