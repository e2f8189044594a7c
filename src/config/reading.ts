// The two sections that come in several forms: which form is meant, and what it becomes.
import type { ZodType } from 'zod'
import { MOST_FIELD_BYTES } from '../model/formats.ts'
import { USER_FIELDS, type UserField } from '../model/user.ts'
import { isRecord, scalarText } from '../model/values.ts'
import type { Config, FieldSource } from './config.ts'
import { found, type Path, type Problem, read, unknownKey } from './problems.ts'
import {
  columnSchema,
  constantSchema,
  fieldFunctionSchema,
  scopeFunctionSchema,
  scopeListSchema,
  valueMapSchema,
} from './schema.ts'
import {
  callPure,
  columnSource,
  constantSource,
  functionSource,
  MOST_COLUMN_BYTES,
  valueMapSource,
} from './source.ts'
import { Held } from './until.ts'

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
  for (const field of ['user_id', 'status'] as const) {
    if (raw[field] === undefined) {
      problems.push({ path: ['mapping', field], text: 'missing; every user needs it' })
    }
  }
  return mapping
}

/** Null when there is no scope: then every customer is in it. */
export function readScope(raw: unknown, problems: Problem[]): Config['scope'] | undefined {
  if (raw === undefined) return null
  const path = ['scope']
  if (has(raw, 'in') || (has(raw, 'column') && !has(raw, 'when'))) {
    const list = read(scopeListSchema, raw, path, problems)
    if (list === undefined) return undefined
    const members = new Set(list.in.map(String))
    const when = (text: string | undefined) =>
      text !== undefined && (members.has(text) || members.has(text.trim()))
    return {
      columns: [list.column],
      mostBytes: MOST_FIELD_BYTES,
      when: (row) => when(scalarText(row[list.column])),
    }
  }
  if (has(raw, 'when') || has(raw, 'columns')) {
    const scope = read(scopeFunctionSchema, raw, path, problems)
    if (scope === undefined) return undefined
    const { columns, when: call } = scope
    return {
      columns,
      mostBytes: MOST_COLUMN_BYTES,
      when: (row, now) => trueOrFalse(callPure({ columns, call }, row, now)),
    }
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
  if (typeof raw === 'string') return as(columnSchema, columnSource)
  if (has(raw, 'value')) return as(constantSchema(field), ({ value }) => constantSource(value))
  if (has(raw, 'map') || has(raw, 'columns'))
    return as(fieldFunctionSchema, ({ columns, map: call }) => functionSource({ columns, call }))
  if (has(raw, 'column') || has(raw, 'values')) return as(valueMapSchema(field), valueMapSource)
  const forms = 'a column name, { column, values }, { value } or { columns, map }'
  problems.push({ path, text: `expected ${forms}, found ${found(raw)}` })
  return undefined
}

/** Whoever leaves the scope loses access, so an answer that only looks like "no" does not count as one. */
function trueOrFalse(answer: unknown): boolean | Held<boolean> {
  if (answer instanceof Held && typeof answer.value === 'boolean') return answer
  if (typeof answer !== 'boolean') throw new TypeError('the function answers neither true nor false')
  return answer
}

function has(raw: unknown, key: string): boolean {
  return typeof raw === 'object' && raw !== null && Object.hasOwn(raw, key)
}
