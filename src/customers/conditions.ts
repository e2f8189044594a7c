// Resolves `--where` against the customer table: the columns' own types, and values that fit them.
import { createHmac } from 'node:crypto'
import pg from 'pg'
import { closest } from '../config/closest.ts'
import type { Config } from '../config/config.ts'
import type { Client } from '../database/client.ts'
import { RollcallError } from '../model/errors.ts'
import { type FoundColumn, findColumns, findRelation, type KeyColumn } from './catalog.ts'
import { neededColumns } from './columns.ts'
import { asBase } from './key.ts'
import { queryCustomers, quoted, settingsOf } from './query.ts'

/** @throws RollcallError USAGE with a line for each that cannot be understood; none of them shows a value */
export async function readConditions(
  client: Client,
  config: Config,
  texts: readonly string[],
): Promise<readonly Condition[]> {
  if (texts.length === 0) return []
  const found = await findRelation(client, config.customers.relation)
  const columns = found ? await findColumns(client, found.oid) : new Map<string, FoundColumn>()
  const read = texts.map((text) => resolve(text, columns, neededColumns(config)))
  const problems = read.flatMap((each) => (typeof each === 'string' ? [each] : []))
  const conditions = read.flatMap((each) => (typeof each === 'string' ? [] : [each]))
  for (const condition of conditions) {
    const problem = await tried(client, config, condition)
    if (problem) problems.push(`--where: ${problem}`)
  }
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  return conditions
}

const FORMS =
  '--where: expected COLUMN = VALUE (also !=, <, <=, >, >=); COLUMN in VALUE,VALUE; COLUMN is null; or COLUMN is not null'

function resolve(text: string, columns: ReadonlyMap<string, FoundColumn>, known: readonly string[]) {
  const said = parseWhere(text)
  if (!said) return FORMS
  const column = known.includes(said.column) ? columns.get(said.column) : undefined
  if (!column) return unknownColumn(said.column, known)
  const { name, type, cast, operators, domain } = column
  return { name, type, cast, operators, domain, operator: said.operator, values: said.values }
}

/** Only columns that a sync reads are reported: the other columns are none of our business, and no right is needed to them. */
function unknownColumn(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return `--where: the configuration reads no column ${JSON.stringify(name)} of the customers.${meant} It reads ${known.join(', ')}`
}

/** Postgres' class for a value that does not fit its type, and its code for a comparison that there is none of. */
const UNFIT = /^22/
const UNCOMPARABLE = /^428(83|04)$/

/** Postgres knows its types best. Its own sentence quotes the value, and is not printed. */
async function tried(client: Client, config: Config, condition: Condition): Promise<string | null> {
  try {
    await queryCustomers(client, settingsOf(config), {
      text: `SELECT FROM ${quoted(config.customers.relation)} c WHERE ${conditionSql(condition, 1)} LIMIT 0`,
      values: [...condition.values],
    })
    return null
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
    if (UNFIT.test(code)) return `the value for ${condition.name} is no ${condition.type}`
    if (UNCOMPARABLE.test(code))
      return `${condition.name} (${condition.type}) cannot be compared by ${condition.operator}`
    throw error
  }
}

/**
 * A digest of conditions, to tell one run from another; order and spelling do not matter. A condition may hold a
 * value of a customer, which is in no table of ours: a keyed digest tells whether it is the same. Null: there are none.
 */
export function digestOf(conditions: readonly Condition[], digestKey: string): string | null {
  if (conditions.length === 0) return null
  const said = conditions.map(({ name, operator, values }) => JSON.stringify([name, operator, values]))
  return createHmac('sha256', digestKey)
    .update(JSON.stringify(['where', said.toSorted()]))
    .digest('base64url')
}

type ParsedWhere = Pick<Condition, 'operator' | 'values'> & { readonly column: string }

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
    const values = oneOf(compared[2] ?? '')
    const operator = compared[1] === '!=' ? '<>' : (compared[1] as Operator)
    return values ? { column, operator, values } : null
  }
  const values = listOf(LISTED.exec(rest)?.[1] ?? '')
  return values ? { column, operator: 'in', values } : null
}

const QUOTED = /^\s*'((?:[^']|'')*)'\s*$/su
const ITEM = /\s*(?:'(?:[^']|'')*'|[^',]*)\s*(?:,|$)/suy

/** Values with commas between; null where there is none, or a quote is not closed. */
function listOf(text: string): readonly string[] | null {
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

type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'in' | 'is null' | 'is not null'

/** A condition on a customer's row; `values` as text, cast to the column's type by Postgres. */
export type Condition = Omit<KeyColumn, 'base'> & {
  readonly operator: Operator
  readonly values: readonly string[]
}

/** The condition on `c`, its values as parameters from number `first` on; every value is one parameter. */
function conditionSql({ operators, operator, values, ...column }: Condition, first: number): string {
  const name = asBase(`c.${pg.escapeIdentifier(column.name)}`, column)
  const at = (_: string, index: number) => `$${first + index}::${column.cast}`
  switch (operator) {
    case 'is null':
    case 'is not null':
      return `${name} ${operator}`
    case 'in':
      return `${name} OPERATOR(${operators}.=) ANY (ARRAY[${values.map(at).join(', ')}])`
    default:
      return `${name} OPERATOR(${operators}.${operator}) ${at('', 0)}`
  }
}

/** Each of several, its values as the parameters after those of the ones before it. */
export function conditionsSql(conditions: readonly Condition[], first: number): readonly string[] {
  let next = first
  return conditions.map((condition) => {
    const sql = conditionSql(condition, next)
    next += condition.values.length
    return sql
  })
}
