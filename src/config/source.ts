// The two sections that come in several forms (define.ts): which form is meant, and what it becomes. Each field becomes
// a FieldSource: named columns in, a value out.
import { types } from 'node:util'
import * as z from 'zod'
import { FORMATS, MOST_FIELD_BYTES } from '../model/formats.ts'
import type { UserField } from '../model/user.ts'
import { scalarText } from '../model/values.ts'
import type { Config, FieldSource, Row } from './config.ts'
import type { Clock } from './define.ts'
import { byForm, column, columnList, forFields, section } from './schema.ts'
import { atOnce, TimedAnswer, withClock } from './until.ts'

type Scope = NonNullable<Config['scope']>

const plainValue = z.union([z.string(), z.number(), z.boolean()], 'expected a text, a number, true or false')
const scopeList = section({
  column,
  in: z.array(plainValue, 'expected a list of values').min(1, 'expected at least one value'),
})
const scopeFunction = section({
  columns: columnList,
  when: pureFunction('a function that returns true or false'),
})

/** Null when there is no scope: then every customer is in it. */
export const scopeSchema = byForm<Scope>((raw) => {
  if (has(raw, 'in') || (has(raw, 'column') && !has(raw, 'when'))) return scopeList.transform(listScope)
  if (has(raw, 'when') || has(raw, 'columns')) return scopeFunction.transform(functionScope)
  return 'expected { column, in } or { columns, when }'
})
  .optional()
  .transform((scope) => scope ?? null)

function listScope({ column, in: list }: z.output<typeof scopeList>): Scope {
  const members = new Set(list.map(String))
  const when = (row: Row) => textIn(members, row[column]) !== undefined
  return { columns: [column], mostBytes: MOST_FIELD_BYTES, when }
}

function functionScope({ columns, when: call }: z.output<typeof scopeFunction>): Scope {
  const when = (row: Row, now: Date) => trueOrFalse(callPure({ columns, call }, row, now))
  return { columns, mostBytes: MOST_COLUMN_BYTES, when }
}

/** A customer that leaves the scope loses access, so an answer that only looks like "no" does not count as one. */
function trueOrFalse(answer: unknown): boolean | TimedAnswer<boolean> {
  if (answer instanceof TimedAnswer && typeof answer.value === 'boolean') return answer
  if (typeof answer !== 'boolean') throw new TypeError('the function returns neither true nor false')
  return answer
}

export type Mapping = z.output<typeof mappingSchema>

export const mappingSchema = section(
  {
    user_id: sourceOf('user_id'),
    status: sourceOf('status'),
    ...forFields((field) => sourceOf(field).optional()),
  },
  'expected an object with a source for each field of the user',
)

function sourceOf(field: UserField) {
  const value = target(field)
  const valueMap = section({
    column,
    values: z
      .record(z.string(), value, 'expected an object, like { free: 0, premium: 2 }')
      .refine(
        (values) => !Object.hasOwn(values, 'null'),
        "expected no entry 'null': use whenNull for an empty column",
      ),
    whenNull: value.optional(),
    otherwise: value.optional(),
  })
  const fieldFunction = section({ columns: columnList, map: pureFunction('a function of its columns') })
  return byForm<FieldSource>((raw) => {
    if (raw === undefined) return 'every user needs it; expected a column, a value or a function'
    if (typeof raw === 'string') return column.transform((name) => bounded([name], (row) => row[name]))
    if (has(raw, 'map') || has(raw, 'columns'))
      return fieldFunction.transform(({ columns, map: call }) => functionSource({ columns, call }))
    if (has(raw, 'column') || has(raw, 'values')) return valueMap.transform(valueMapSource)
    if (has(raw, 'value')) return section({ value }).transform(({ value }) => bounded([], () => value))
    return 'expected a column name, { column, values }, { value } or { columns, map }'
  })
}

/** A value that the author fixes must be right for its field already here. */
function target(field: UserField) {
  const { expected, parse } = FORMATS[field]
  return z.unknown().refine((value) => value !== undefined && parse(value).ok, `expected ${expected}`)
}

/** A function that waits is refused here when it says so itself, and at the first customer when it does not. */
function pureFunction(expected: string) {
  return z.custom<PureCall['call']>(
    (value) =>
      typeof value === 'function' && !types.isAsyncFunction(value) && !types.isGeneratorFunction(value),
    `expected ${expected} (not async, no generator)`,
  )
}

function has(raw: unknown, key: string): boolean {
  return typeof raw === 'object' && raw !== null && Object.hasOwn(raw, key)
}

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

/** For columns that hold the value itself. */
function bounded(columns: readonly string[], value: FieldSource['value']): FieldSource {
  return { columns, mostBytes: MOST_FIELD_BYTES, value }
}

/** `char(n)` columns come padded with spaces, so a text that is not listed is looked up once more trimmed. */
function textIn(listed: { has(text: string): boolean }, given: unknown): string | undefined {
  const text = scalarText(given)
  return [text, text?.trim()].find((each) => each !== undefined && listed.has(each))
}

type ValueMap = {
  readonly column: string
  readonly values: Readonly<Record<string, unknown>>
  readonly whenNull?: unknown
  readonly otherwise?: unknown
}

export function valueMapSource({ column, values, whenNull, otherwise }: ValueMap): FieldSource {
  const listed = new Map(Object.entries(values))
  const unlisted = otherwise === undefined ? new NotListed([...listed.keys()]) : otherwise
  const empty = whenNull === undefined ? (otherwise ?? null) : whenNull
  const value = (row: Row): unknown => {
    const given = row[column]
    if (given === null || given === undefined) return empty
    const listedAs = textIn(listed, given)
    return listedAs === undefined ? unlisted : listed.get(listedAs)
  }
  return bounded([column], value)
}

type PureCall = { readonly columns: readonly string[]; readonly call: (row: Row, clock?: Clock) => unknown }

export function functionSource(pure: PureCall): FieldSource {
  const value = (row: Row, now?: Date) => callPure(pure, row, now)
  return { columns: pure.columns, mostBytes: MOST_COLUMN_BYTES, value }
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
