// The shapes of the sections that say who the customers are and how they are mapped. What several sections must agree
// on is checked in checks.ts. Every `error` says what was expected; problems.ts adds where and what was found.
import { types } from 'node:util'
import { z } from 'zod'
import { FORMATS } from '../model/formats.ts'
import { OPTIONAL_FIELDS, type UserField } from '../model/user.ts'
import { words } from '../model/values.ts'
import type { Row } from './config.ts'
import type { Clock } from './define.ts'
import { isIdentifier, parseRelation } from './relation.ts'
import { oneOf, settingSchemas } from './settings.ts'

const column = z
  .string({ error: 'expected the name of a column' })
  .refine(isIdentifier, { error: 'expected the name of a column (1 to 63 bytes)' })

const columns = z
  .array(column, { error: 'expected a column or a list of columns' })
  .min(1, { error: 'expected at least one column' })
  .refine((names) => new Set(names).size === names.length, { error: 'expected each column once' })

const key = z.preprocess((value) => (typeof value === 'string' ? [value] : value), columns)

const RELATION = 'expected a table or view as schema.name, or name alone in the schema public'
const relation = z.string({ error: RELATION }).transform((text, context) => {
  const parsed = parseRelation(text)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: RELATION, input: text })
  return z.NEVER
})

/** A function that waits is refused here when it says so itself, and at the first customer when it does not. */
function pureFunction<T>(expected: string) {
  return z.custom<(row: Row, clock?: Clock) => T>(
    (value) =>
      typeof value === 'function' && !types.isAsyncFunction(value) && !types.isGeneratorFunction(value),
    { error: `expected ${expected}, not async and no generator` },
  )
}

const object = { error: 'expected an object' }

const schemaName = z
  .string({ error: 'expected the name of a schema' })
  .refine(isIdentifier, { error: 'expected the name of a schema (1 to 63 bytes)' })

export const customersSchema = z.strictObject(
  {
    table: relation.optional(),
    view: relation.optional(),
    key,
    searchPath: z.array(schemaName, { error: 'expected a list of schemas' }).default([]),
    rowSecurity: oneOf(['refuse', 'apply']).default('refuse'),
  },
  object,
)

export const watchSchema = z
  .array(z.strictObject({ table: relation, key, columns: columns.optional() }, object), {
    error: 'expected a list of { table, key }',
  })
  .min(1, { error: 'expected at least one table' })

const plainValue = z.union([z.string(), z.number(), z.boolean()], {
  error: 'expected a text, a number, true or false',
})
export const scopeListSchema = z.strictObject(
  {
    column,
    in: z
      .array(plainValue, { error: 'expected a list of values' })
      .min(1, { error: 'expected at least one value' }),
  },
  object,
)
export const scopeFunctionSchema = z.strictObject(
  { columns, when: pureFunction<unknown>('a function that answers true or false') },
  object,
)

export const columnSchema = column

export const constantSchema = (field: UserField) => z.strictObject({ value: target(field) }, object)

export const valueMapSchema = (field: UserField) =>
  z.strictObject(
    {
      column,
      values: z
        .record(z.string(), target(field), { error: 'expected an object, like { free: 0, premium: 2 }' })
        .refine((values) => !Object.hasOwn(values, 'null'), {
          error: 'expected values of the column as text; for an empty column write whenNull',
        }),
      whenNull: target(field).optional(),
      otherwise: target(field).optional(),
    },
    object,
  )

export const fieldFunctionSchema = z.strictObject(
  { columns, map: pureFunction<unknown>('a function of these columns') },
  object,
)

/** A value that the author fixes must be right for its field already here. */
function target(field: UserField) {
  const { expected, parse } = FORMATS[field]
  return z.unknown().refine((value) => value !== undefined && parse(value).ok, {
    error: `expected ${expected}`,
  })
}

const clearing = oneOf(['null', 'empty', 'omit'])
const CLEARING = "expected 'null', 'empty' or 'omit', or an object with one of these for each field"

export const mappingVersionSchema = z
  .union([z.string(), z.number()], { error: 'expected a text or a number' })
  .optional()

export const clearWithAllSchema = z.enum(clearing.options, { error: CLEARING })
export const clearWithSchema = z.strictObject(
  Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, clearing.optional()])),
  { error: CLEARING },
)

export const TOP_LEVEL = [
  ...words('customers watch scope mapping clearWith mappingVersion'),
  ...Object.keys(settingSchemas),
]
