// From the forms of a field mapping (define.ts) to one FieldSource: named columns in, a value out.
import type { FieldSource, Row } from './config.ts'

/** A value map's answer to a value that it does not list: what it lists, never the value itself. */
export class NotListed {
  readonly listed: readonly string[]

  constructor(listed: readonly string[]) {
    this.listed = listed
  }
}

export type ValueMap = {
  readonly column: string
  readonly values: Readonly<Record<string, unknown>>
  readonly whenNull?: unknown
  readonly otherwise?: unknown
}

export function columnSource(column: string): FieldSource {
  return { columns: [column], value: (row) => row[column] }
}

export function constantSource(value: unknown): FieldSource {
  return { columns: [], value: () => value }
}

/** `char(n)` columns come padded with spaces, so a text that is not listed is looked up once more trimmed. */
export function valueMapSource({ column, values, whenNull, otherwise }: ValueMap): FieldSource {
  const listed = new Map(Object.entries(values))
  const unlisted = otherwise === undefined ? new NotListed([...listed.keys()]) : otherwise
  const empty = whenNull === undefined ? (otherwise ?? null) : whenNull
  const value = (row: Row): unknown => {
    const given = row[column]
    if (given === null || given === undefined) return empty
    const found = [columnText(given), columnText(given)?.trim()].find(
      (text) => text !== undefined && listed.has(text),
    )
    return found === undefined ? unlisted : listed.get(found)
  }
  return { columns: [column], value }
}

export function functionSource(columns: readonly string[], map: (row: Row) => unknown): FieldSource {
  return { columns, value: (row) => callPure(map, columns, row) }
}

/** The text form by which value maps and scope lists are keyed; undefined for arrays and objects. */
export function columnText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return undefined
  }
}

/**
 * Calls a function of the configuration with the columns that it names. Throws what the function throws, and
 * also when it answers with a promise: a mapping that waits for something else is not a function of the row,
 * and its answer could not be repeated.
 */
export function callPure(call: (row: Row) => unknown, columns: readonly string[], row: Row): unknown {
  const answer = call(onlyNamed(columns, row))
  if (isThenable(answer)) {
    Promise.resolve(answer).catch(() => {}) // its own failure is part of the one that is thrown here
    throw new TypeError('the function answers with a promise')
  }
  return answer
}

/**
 * A column that is not named is not read from the database and not watched for changes. Undefined would pass
 * for an empty column, so reading one fails.
 */
function onlyNamed(columns: readonly string[], row: Row): Row {
  const named = Object.fromEntries(columns.map((column) => [column, row[column]]))
  return new Proxy(Object.freeze(named), {
    get(target, name) {
      if (typeof name === 'string' && !(name in target) && !PROBED.has(name)) {
        throw new ReferenceError('the function reads a column that it does not name')
      }
      return Reflect.get(target, name)
    },
  })
}

/** Asked for by the language itself (JSON.stringify, await), not by the author. */
const PROBED = new Set(['toJSON', 'then'])

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
