// The parts of every view: labelled lines, tables, times, counts, and the same value as JSON.
import { asEscape, CONTROLS, CONTROLS_IN_JSON } from '../model/control-characters.ts'
import type { Counts } from '../model/values.ts'
import { figure } from '../report/figures.ts'
import type { Io } from './io.ts'

/** Terminals, tickets and mails show eighty columns without folding a line. */
export const TERMINAL_COLUMNS = 80

/** A view: the value as one JSON document, or its lines for a person. */
export function tell(
  io: Pick<Io, 'out'>,
  json: boolean | undefined,
  value: unknown,
  lines: () => readonly string[],
) {
  for (const line of json ? [asJson(value)] : lines()) io.out(line)
}

/** Beside the data; a text may hold a name that comes from outside. */
export function warn({ err }: Pick<Io, 'err'>, texts: readonly string[]): void {
  for (const text of texts) err(`warning: ${shown(text)}`)
}

/** One JSON document on stdout; bigints as text, and nothing in it that a terminal would obey. */
export function asJson(value: unknown): string {
  const json = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner), 2)
  return json.replace(CONTROLS_IN_JSON, asEscape)
}

/** Keys, ids and whatever else comes from outside: what a terminal would obey is shown in place of being obeyed. */
export function shown(text: string): string {
  return text.replace(CONTROLS, asEscape)
}

/** A field's value in one line, quoted, so that blanks at its ends are seen. */
export function renderValue(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'object' ? shown(JSON.stringify(value)) : asJson(value)
}

/** As a shell takes it, also as an argument of its own. */
export function shellQuoted(text: string): string {
  return /^[\w./:=%@,+][\w./:=%@,+-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** The words for a value by its kind; a kind that has none does not compile. */
export function byKind<Value extends { readonly kind: string }>(
  value: Value,
  words: { readonly [Kind in Value['kind']]: (value: Extract<Value, { readonly kind: Kind }>) => string },
): string {
  return words[value.kind as Value['kind']](value as never)
}

export function applying(texts: readonly (string | false | null)[]): string[] {
  return texts.filter((text) => typeof text === 'string')
}

type Text = string | false | null | undefined

/** A text for each label, or several; without a text nothing is shown. */
export type Labelled = Readonly<Record<string, Text | readonly Text[]>>

export function definitions(...groups: readonly Labelled[]): string[] {
  return groups.flatMap((labelled) => linesOf(labelled, (label) => `${label.padEnd(12)} `))
}

/** The same below a heading. */
export function details(labelled: Labelled): string[] {
  return linesOf(labelled, (label) => `  ${label.padEnd(9)} `)
}

function linesOf(labelled: Labelled, headOf: (label: string) => string): string[] {
  return Object.entries(labelled).flatMap(([label, texts]) =>
    [texts].flat().flatMap((text) => (text ? hanging(headOf(label), text) : [])),
  )
}

/** Prose of any form: a line that is too long is folded, and set in behind its dash or its name. */
export function foldedProse(text: string): string {
  const lines = text.split('\n').flatMap((line) => {
    const [head = ''] = /^ *(?:- |\S+ {2,})?/.exec(line) ?? []
    return line.length <= TERMINAL_COLUMNS ? [line] : hanging(head, line.slice(head.length))
  })
  return lines.join('\n')
}

/** A command in backticks is kept whole, and a number with its sign or unit. */
const WORDS = /(?:`[^`]*`|\d (?=[%×]|(?:ms|s|min|h|days|UTC)\b)|× (?=\S)|[^ ])+/g

/** Folded between words where it is too long, and set in below its head. */
export function hanging(head: string, text: string): string[] {
  const words = shown(text).match(WORDS) ?? []
  const [first = '', ...others] = folded(words, TERMINAL_COLUMNS - head.length)
  return [head + first, ...others.map((part) => ' '.repeat(head.length) + part)]
}

function folded(words: readonly string[], width: number): string[] {
  const parts: string[] = []
  for (const word of words) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) {
      parts[parts.length - 1] = `${last} ${word}`
    } else parts.push(word)
  }
  return parts
}

type Table = {
  readonly width?: number
  /** Lines below a row; 0 is the first one below the head. */
  readonly below?: (row: number) => readonly string[]
}

/** The heads of columns with numbers: these end below each other. */
const NUMBERS: ReadonlySet<string> = new Set(['TOOK', 'COUNT', 'FOR', 'ATTEMPTS'])

/** Each column as wide as its widest cell. A last cell that a line has no room for stands below it. */
export function columns(
  rows: readonly (readonly string[])[],
  { width = TERMINAL_COLUMNS, below = () => [] }: Table = {},
): string[] {
  const cells = rows.map((row) => row.map(shown))
  const widths = (cells[0] ?? []).map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  )
  const pad = (cell: string, column: number) =>
    NUMBERS.has(cells[0]?.[column] ?? '')
      ? cell.padStart(widths[column] ?? 0)
      : cell.padEnd(widths[column] ?? 0)
  return cells.flatMap((row, at) => {
    const padded = row.map(pad)
    const line = padded.join('  ').trimEnd()
    const fits = line.length <= width
    const beside = fits ? [line] : [padded.slice(0, -1).join('  ').trimEnd()]
    return [...beside, ...(fits ? [] : hanging('    ', row.at(-1) ?? '')), ...below(at - 1)]
  })
}

/** `12 status, 3 email`; a count of 0 is left out. */
export function renderCounts(counts: Counts, between = ' '): string {
  const some = Object.entries(counts).filter(([, n = 0]) => n > 0)
  return some.map(([name, n = 0]) => `${figure(n)}${between}${name}`).join(', ')
}

export function more(listed: number, total: number): readonly string[] {
  return total > listed ? [`and ${total - listed} more; --limit ${total} shows all of them`] : []
}

/** A line has room for a few names. */
const MOST_NAMES = 3

export function few(names: readonly string[]): string {
  const others = names.length - MOST_NAMES
  return (others > 0 ? [...names.slice(0, MOST_NAMES), `${others} more`] : names).join(', ')
}

export function span(ms: number): string {
  if (ms < 1000) return 'under 1 s'
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`
}

/** The wait for a time; one that is over is now. */
export function renderIn(ms: number): string {
  return ms > 0 ? `in ${span(ms)}` : 'now'
}

/** 2026-11-23 09:00:00, of a time in ISO 8601. */
export function second(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
}
