// The shapes of the sections: first those that stand for themselves, with their defaults, then who the customers are
// and how they are mapped; define.ts says what each means. checks.ts has the rules about several sections. Every
// `error` says what was expected; problems.ts adds where and what was found.
import { types } from 'node:util'
import { z } from 'zod'
import { readDuration } from '../model/duration.ts'
import { FORMATS } from '../model/formats.ts'
import { OPTIONAL_FIELDS, type UserField } from '../model/user.ts'
import { words } from '../model/values.ts'
import type { Clock, Columns, RollcallConfig } from './define.ts'
import { isIdentifier, parseRelation } from './relation.ts'

const object = { error: 'expected an object' }

function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, object)
}

function oneOf<const T extends readonly string[]>(options: T) {
  return z.enum(options, { error: `expected ${options.map((option) => `'${option}'`).join(' or ')}` })
}

function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** The longest time that timers and intervals can hold: about 24 days. */
const MAX_MS = 2_147_483_647
const MOST_DAYS = 3650
const flag = z.boolean({ error: 'expected true or false' })
const RATE = { error: 'expected a number of calls per second of at least 0.1' }
const SHARE = { error: 'expected a share from 0 to 1' }

/** The larger of a number of customers and a share (0 to 1). 0 and 0 would hold all customers, to decide on each by hand. */
function brakeLimit(most: { customers: number; share: number }) {
  const share = z.number(SHARE).min(0, SHARE).max(1, SHARE).default(most.share)
  return section({ customers: whole(0, MAX_MS).default(most.customers), share }).prefault({})
}

const PERIOD = "expected a time from '1s' to '365d', like '7d' or '12h', or false"
const SHORTEST_MS = 1000
const LONGEST_MS = 365 * 86_400_000

/** With its unit always: a number of milliseconds is never meant here. */
const period = z
  .union([z.literal(false), z.string().regex(/[a-z]$/, { error: PERIOD })], { error: PERIOD })
  .transform((given, context) => {
    if (given === false) return null
    const ms = readDuration(given)
    if (ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms
    context.addIssue({ code: 'custom', message: PERIOD, input: given })
    return z.NEVER
  })

export const settingSchemas = {
  strict: flag.default(false),
  unmanaged: oneOf(['keep', 'clear']).default('keep'),
  onRemove: oneOf(['revoke', 'erase', 'ignore']).default('revoke'),
  createWithoutAccess: flag.default(true),
  phonePrefix: oneOf(['digits', 'plus']).default('digits'),
  service: section({
    environment: oneOf(['production', 'demo']).default('production'),
    allowPlainHttp: flag.default(false),
    timeoutMs: whole(1, MAX_MS).default(10_000),
  }).prefault({}),
  pace: section({
    ceiling: z.number(RATE).min(0.1, RATE).default(50),
    concurrency: whole(1, 1000).default(200),
  }).prefault({}),
  brake: section({
    windowHours: whole(1, 720).default(24),
    changes: brakeLimit({ customers: 100, share: 0.01 }),
    creates: brakeLimit({ customers: 10_000, share: 0.1 }),
  }).prefault({}),
  reconcile: section({
    period: period.prefault('7d'),
    mode: oneOf(['report', 'repair']).default('report'),
    keepDays: whole(1, MOST_DAYS).default(90),
  })
    .transform(({ period: periodMs, ...rest }) => ({ ...rest, periodMs }))
    .prefault({}),
  advanced: section({
    timing: section({
      gapMs: whole(0, MAX_MS).default(1000),
      lifetimeMs: whole(1, MAX_MS).default(30_000),
      queueLeaseMs: whole(1, MAX_MS).default(30_000),
      consistencyDelayMs: whole(0, MAX_MS).optional(),
      retryMinMs: whole(1, MAX_MS).default(1000),
      retryMaxMs: whole(1, MAX_MS).default(3_600_000),
    })
      .transform(({ consistencyDelayMs: delay, ...timing }) => ({
        ...timing,
        consistencyDelayMs: delay ?? Math.min(5000, timing.lifetimeMs),
      }))
      .prefault({}),
    history: section({ keepDays: whole(1, MOST_DAYS).default(14) }).prefault({}),
    capture: section({
      outboxLimitMb: whole(1, 1_048_576).default(1024),
      checkHours: whole(0, 8760).default(24),
    }).prefault({}),
  }).prefault({}),
} satisfies { readonly [K in keyof RollcallConfig]?: z.ZodType }

type Schemas = typeof settingSchemas
type Frozen<T> = { readonly [K in keyof T]: T[K] extends object ? Frozen<T[K]> : T[K] }

export type Authored = { [K in keyof Schemas]: z.output<Schemas[K]> }

/** With every default filled in; define.ts says what each means. */
export type Sections = Frozen<Omit<Authored, 'advanced'> & Authored['advanced']>

function nameOf(what: string) {
  const error = `expected the name of a ${what}`
  return z.string({ error }).refine(isIdentifier, { error: `${error} (1 to 63 bytes)` })
}

export const column = nameOf('column')

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
function pureFunction(expected: string) {
  return z.custom<(row: Columns, clock?: Clock) => unknown>(
    (value) =>
      typeof value === 'function' && !types.isAsyncFunction(value) && !types.isGeneratorFunction(value),
    { error: `expected ${expected}, not async and no generator` },
  )
}

export const customersSchema = section({
  table: relation.optional(),
  view: relation.optional(),
  key,
  searchPath: z.array(nameOf('schema'), { error: 'expected a list of schemas' }).default([]),
  rowSecurity: oneOf(['refuse', 'apply']).default('refuse'),
})

export const watchSchema = z
  .array(section({ table: relation, key, columns: columns.optional() }), {
    error: 'expected a list of { table, key }',
  })
  .min(1, { error: 'expected at least one table' })

const plainValue = z.union([z.string(), z.number(), z.boolean()], {
  error: 'expected a text, a number, true or false',
})
export const scopeListSchema = section({
  column,
  in: z
    .array(plainValue, { error: 'expected a list of values' })
    .min(1, { error: 'expected at least one value' }),
})
export const scopeFunctionSchema = section({
  columns,
  when: pureFunction('a function that answers true or false'),
})

export const constantSchema = (field: UserField) => section({ value: target(field) })

export const valueMapSchema = (field: UserField) =>
  section({
    column,
    values: z
      .record(z.string(), target(field), { error: 'expected an object, like { free: 0, premium: 2 }' })
      .refine((values) => !Object.hasOwn(values, 'null'), {
        error: 'expected values of the column as text; for an empty column write whenNull',
      }),
    whenNull: target(field).optional(),
    otherwise: target(field).optional(),
  })

export const fieldFunctionSchema = section({ columns, map: pureFunction('a function of these columns') })

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

export const ADVANCED = Object.keys(settingSchemas.advanced.unwrap().shape)
