// The two sections that come in several forms (define.ts): which form is meant, and what it becomes. Each field becomes
// a FieldSource: named columns in, a value out.
import type { ZodType, z } from 'zod'
import { MOST_FIELD_BYTES } from '../model/formats.ts'
import { USER_FIELDS, type UserField } from '../model/user.ts'
import { isRecord, scalarText } from '../model/values.ts'
import type { Config, FieldSource, Row } from './config.ts'
import type { Clock } from './define.ts'
import { found, type Path, type Problem, read, unknownKey } from './problems.ts'
import {
  column as columnSchema,
  constantSchema,
  fieldFunctionSchema,
  scopeFunctionSchema,
  scopeListSchema,
  valueMapSchema,
} from './schema.ts'
import { atOnce, TimedAnswer, withClock } from './until.ts'

export type Mapping = { readonly [F in UserField]?: FieldSource }

/** The fields that could be read; undefined when there is no mapping at all. */
export function readMapping(raw: unknown, problems: Problem[]): Mapping | undefined {
  if (!isRecord(raw)) {
    const text = `expected an object with a source for each field of the user, found ${found(raw)}`
    problems.push({ path: ['mapping'], text })
    return undefined
  }
  const mapping: { [F in UserField]?: FieldSource } = {}
  for (const [name, form] of Object.entries(raw)) {
    const field = USER_FIELDS.find((known) => known === name)
    if (field === undefined) {
      problems.push({ path: ['mapping', name], text: unknownKey(name, USER_FIELDS) })
    } else if (form !== undefined) {
      const source = readSource(field, form, problems)
      if (source !== undefined) mapping[field] = source
    }
  }
  const needed = ['user_id', 'status'].filter((field) => raw[field] === undefined)
  problems.push(
    ...needed.map((field) => ({ path: ['mapping', field], text: 'missing; every user needs it' })),
  )
  return mapping
}

/** Null when there is no scope: then every customer is in it. */
export function readScope(raw: unknown, problems: Problem[]): Config['scope'] | undefined {
  if (raw === undefined) return null
  const path = ['scope']
  if (has(raw, 'in') || (has(raw, 'column') && !has(raw, 'when'))) {
    const list = read(scopeListSchema, raw, path, problems)
    if (list === undefined) return undefined
    const { column } = list
    const members = new Set(list.in.map(String))
    const when = (row: Row) => textIn(members, row[column]) !== undefined
    return { columns: [column], mostBytes: MOST_FIELD_BYTES, when }
  }
  if (has(raw, 'when') || has(raw, 'columns')) {
    const scope = read(scopeFunctionSchema, raw, path, problems)
    if (scope === undefined) return undefined
    const { columns, when: call } = scope
    const when = (row: Row, now: Date) => trueOrFalse(callPure({ columns, call }, row, now))
    return { columns, mostBytes: MOST_COLUMN_BYTES, when }
  }
  problems.push({ path, text: 'expected { column, in } or { columns, when }' })
  return undefined
}

function readSource(field: UserField, raw: unknown, problems: Problem[]): FieldSource | undefined {
  const path: Path = ['mapping', field]
  const as = <T>(schema: ZodType<T>, make: (form: T) => FieldSource) => {
    const form = read(schema, raw, path, problems)
    return form === undefined ? undefined : make(form)
  }
  if (typeof raw === 'string') return as(columnSchema, (column) => bounded([column], (row) => row[column]))
  if (has(raw, 'value')) return as(constantSchema(field), ({ value }) => bounded([], () => value))
  if (has(raw, 'map') || has(raw, 'columns'))
    return as(fieldFunctionSchema, ({ columns, map: call }) => functionSource({ columns, call }))
  if (has(raw, 'column') || has(raw, 'values')) return as(valueMapSchema(field), valueMapSource)
  const forms = 'a column name, { column, values }, { value } or { columns, map }'
  problems.push({ path, text: `expected ${forms}, found ${found(raw)}` })
  return undefined
}

/** A customer that leaves the scope loses access, so an answer that only looks like "no" does not count as one. */
function trueOrFalse(answer: unknown): boolean | TimedAnswer<boolean> {
  if (answer instanceof TimedAnswer && typeof answer.value === 'boolean') return answer
  if (typeof answer !== 'boolean') throw new TypeError('the function answers neither true nor false')
  return answer
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

export function valueMapSource(form: z.output<ReturnType<typeof valueMapSchema>>): FieldSource {
  const { column, values, whenNull, otherwise } = form
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
