// From the forms of a field mapping (define.ts) to one FieldSource: named columns in, a value out.
import { MOST_FIELD_BYTES } from '../model/formats.ts'
import { scalarText } from '../model/values.ts'
import type { FieldSource, Row } from './config.ts'
import type { Clock } from './define.ts'
import { atOnce, withClock } from './until.ts'

/** A value map's answer to a value that it does not list: what it lists, never the value itself. */
export class NotListed {
  readonly listed: readonly string[]

  constructor(listed: readonly string[]) {
    this.listed = listed
  }
}

/** Stands for a value that was not read, since it is above the limit of its column. */
export class TooLarge {
  readonly mostBytes: number

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes
  }
}

/**
 * A function may take a part of what a column holds, such as one entry of a json document. More than this it cannot
 * get: a sweep holds the rows of a thousand customers in memory.
 */
export const MOST_COLUMN_BYTES = 65_536

type ValueMap = {
  readonly column: string
  readonly values: Readonly<Record<string, unknown>>
  readonly whenNull?: unknown
  readonly otherwise?: unknown
}

export function columnSource(column: string): FieldSource {
  return { columns: [column], mostBytes: MOST_FIELD_BYTES, value: (row) => row[column] }
}

export function constantSource(value: unknown): FieldSource {
  return { columns: [], mostBytes: MOST_FIELD_BYTES, value: () => value }
}

/** `char(n)` columns come padded with spaces, so a text that is not listed is looked up once more trimmed. */
export function valueMapSource({ column, values, whenNull, otherwise }: ValueMap): FieldSource {
  const listed = new Map(Object.entries(values))
  const unlisted = otherwise === undefined ? new NotListed([...listed.keys()]) : otherwise
  const empty = whenNull === undefined ? (otherwise ?? null) : whenNull
  const value = (row: Row): unknown => {
    const given = row[column]
    if (given === null || given === undefined) return empty
    const found = [scalarText(given), scalarText(given)?.trim()].find(
      (text) => text !== undefined && listed.has(text),
    )
    return found === undefined ? unlisted : listed.get(found)
  }
  return { columns: [column], mostBytes: MOST_FIELD_BYTES, value }
}

/** A function of the configuration, and the columns that it names. */
type PureCall = {
  readonly columns: readonly string[]
  readonly call: (row: Row, clock?: Clock) => unknown
}

export function functionSource(pure: PureCall): FieldSource {
  return {
    columns: pure.columns,
    mostBytes: MOST_COLUMN_BYTES,
    value: (row, now) => callPure(pure, row, now),
  }
}

/**
 * Calls a function of the configuration with the columns that it names, and with a clock if there is a `now` for it.
 * Throws what the function throws, and also when it answers with a promise, or goes by the time without saying until
 * when its answer holds; see until.ts.
 */
export function callPure({ columns, call }: PureCall, row: Row, now?: Date): unknown {
  const named = onlyNamed(columns, row)
  return now ? withClock(now, (clock) => call(named, clock)) : atOnce(call(named))
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
