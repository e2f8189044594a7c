// The shapes of the configuration's sections, with the defaults. What several sections must agree on is
// checked in resolve.ts. Every `error` says what was expected; problems.ts adds where and what was found.
import { types } from 'node:util'
import { z } from 'zod'
import { FORMATS } from '../model/formats.ts'
import { OPTIONAL_FIELDS, type UserField } from '../model/user.ts'
import type { Row } from './config.ts'
import type { Clock } from './define.ts'
import { reconcileSchema } from './reconcile.ts'
import { isIdentifier, parseRelation } from './relation.ts'

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
    rowSecurity: z.enum(['refuse', 'apply'], { error: "expected 'refuse' or 'apply'" }).default('refuse'),
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

function oneOf<const T extends readonly string[]>(options: T) {
  return z.enum(options, { error: `expected ${options.map((option) => `'${option}'`).join(' or ')}` })
}

function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** What timers and intervals can hold: about 24 days. */
const MAX_MS = 2_147_483_647
const flag = z.boolean({ error: 'expected true or false' })
const clearing = oneOf(['null', 'empty', 'omit'])
const CLEARING = "expected 'null', 'empty' or 'omit', or an object with one of these for each field"

/** 0 and 0 would hold everybody, which is a way to look at each by hand. */
function brakeLimit({ customers, share }: { customers: number; share: number }) {
  const error = 'expected a share from 0 to 1'
  return z
    .strictObject(
      {
        customers: whole(0, MAX_MS).default(customers),
        share: z.number({ error }).min(0, { error }).max(1, { error }).default(share),
      },
      object,
    )
    .prefault({})
}

export const mappingVersionSchema = z
  .union([z.string(), z.number()], { error: 'expected a text or a number' })
  .optional()

export const settingSchemas = {
  strict: flag.default(false),
  unmanaged: oneOf(['keep', 'clear']).default('keep'),
  onRemove: oneOf(['revoke', 'erase', 'ignore']).default('revoke'),
  createWithoutAccess: flag.default(true),
  phonePrefix: oneOf(['digits', 'plus']).default('digits'),
  service: z
    .strictObject(
      {
        environment: oneOf(['production', 'demo']).default('production'),
        allowPlainHttp: flag.default(false),
        timeoutMs: whole(1, MAX_MS).default(10_000),
      },
      object,
    )
    .prefault({}),
  pace: z
    .strictObject(
      {
        ceiling: z
          .number({ error: 'expected a number of calls per second above 0' })
          .positive({ error: 'expected a number of calls per second above 0' })
          .default(50),
        concurrency: whole(1, 1000).default(20),
      },
      object,
    )
    .prefault({}),
  timing: z
    .strictObject(
      {
        gapMs: whole(0, MAX_MS).default(1000),
        lifetimeMs: whole(1, MAX_MS).default(30_000),
        queueLeaseMs: whole(1, MAX_MS).default(30_000),
        consistencyDelayMs: whole(0, MAX_MS).optional(),
        retryMinMs: whole(1, MAX_MS).default(1000),
        retryMaxMs: whole(1, MAX_MS).default(3_600_000),
      },
      object,
    )
    .transform(({ consistencyDelayMs: delay, ...timing }) => ({
      ...timing,
      consistencyDelayMs: delay ?? Math.min(5000, timing.lifetimeMs),
    }))
    .prefault({}),
  brake: z
    .strictObject(
      {
        windowHours: whole(1, 720).default(24),
        changes: brakeLimit({ customers: 100, share: 0.01 }),
        creates: brakeLimit({ customers: 10_000, share: 0.1 }),
      },
      object,
    )
    .prefault({}),
  capture: z
    .strictObject(
      { outboxLimitMb: whole(1, 1_048_576).default(1024), checkHours: whole(0, 8760).default(24) },
      object,
    )
    .prefault({}),
  history: z.strictObject({ keepDays: whole(1, 3650).default(14) }, object).prefault({}),
  reconcile: reconcileSchema,
}

export const clearWithAllSchema = z.enum(clearing.options, { error: CLEARING })
export const clearWithSchema = z.strictObject(
  Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, clearing.optional()])),
  { error: CLEARING },
)

export const TOP_LEVEL = [
  'customers',
  'watch',
  'scope',
  'mapping',
  'clearWith',
  'mappingVersion',
  ...Object.keys(settingSchemas),
]
