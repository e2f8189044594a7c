// The shapes of the sections: first those that stand for themselves, with their defaults, then who the customers are
// and how fields are cleared; source.ts has the mapping and the scope, and define.ts says what each means. checks.ts has
// the rules about several sections. Every error says what was expected; problems.ts adds where and what was found.
import * as z from 'zod'
import { readDuration } from '../model/duration.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import { isRecord } from '../model/values.ts'
import type { ClearWith } from './define.ts'
import { isIdentifier, parseRelation } from './relation.ts'

/** The error about an unknown key names the known ones. */
export function section<Shape extends z.ZodRawShape>(shape: Shape, expected = 'expected an object') {
  const known = Object.keys(shape).join(' ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? known : expected),
  })
}

/**
 * The schema of the form that is meant, or what was expected if it is none. A union of the forms would report what is
 * wrong with each of them.
 */
export function byForm<T>(formOf: (raw: unknown) => z.ZodType<T> | string) {
  return z.unknown().transform((raw, context): T => {
    const form = formOf(raw)
    if (typeof form === 'string') context.addIssue({ code: 'custom', message: form, input: raw })
    else {
      const result = form.safeParse(raw, { reportInput: true })
      if (result.success) return result.data
      context.issues.push(...(result.error.issues as z.core.$ZodRawIssue[]))
    }
    return z.NEVER
  })
}

/** A text that `read` understands. */
function readable<T>(expected: string, read: (text: string) => T | undefined) {
  return z.string(expected).transform((text, context): T => {
    const value = read(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: expected, input: text })
    return z.NEVER
  })
}

function oneOf<const T extends readonly string[]>(options: T) {
  const quoted = options.map((option) => `'${option}'`).join(', ')
  return z.enum(options, `expected ${quoted.replace(/, ([^,]*)$/, ' or $1')}`)
}

function whole(min: number, max: number) {
  const expected = `expected a whole number from ${min} to ${max}`
  return z.int(expected).min(min, expected).max(max, expected)
}

/** The longest time that timers and intervals can hold: about 24 days. */
const MAX_MS = 2_147_483_647
const MOST_DAYS = 3650
const flag = z.boolean('expected true or false')
const RATE = 'expected a number of calls per second of at least 0.1'
const SHARE = 'expected a share from 0 to 1'

/** The larger of a number of customers and a share (0 to 1). 0 and 0 would hold all customers, to decide on each by hand. */
function brakeLimit(most: { customers: number; share: number }) {
  const share = z.number(SHARE).min(0, SHARE).max(1, SHARE).default(most.share)
  return section({ customers: whole(0, MAX_MS).default(most.customers), share }).prefault({})
}

const PERIOD = "expected a time from '1s' to '365d', like '7d' or '12h', or false"
const SHORTEST_MS = 1000
const LONGEST_MS = 365 * 86_400_000

/** With its unit always: a number of milliseconds is never meant here. */
function readPeriod(text: string): number | undefined {
  const ms = /[a-z]$/.test(text) ? readDuration(text) : undefined
  return ms !== undefined && ms >= SHORTEST_MS && ms <= LONGEST_MS ? ms : undefined
}
const period = byForm<number | null>((raw) =>
  raw === false ? z.literal(false).transform(() => null) : readable(PERIOD, readPeriod),
)

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
    concurrency: whole(1, 1000).default(400),
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
}

type Schemas = typeof settingSchemas
export type Frozen<T> = { readonly [K in keyof T]: T[K] extends object ? Frozen<T[K]> : T[K] }
type Authored = { [K in keyof Schemas]: z.output<Schemas[K]> }

/** With every default filled in; define.ts says what each means. */
export type Sections = Frozen<Omit<Authored, 'advanced'> & Authored['advanced']>

function nameOf(what: string) {
  const expected = `expected the name of a ${what}`
  return z.string(expected).refine(isIdentifier, `${expected} (1 to 63 bytes)`)
}

export const column = nameOf('column')

const columnsAs = (expected: string) =>
  z
    .array(column, expected)
    .min(1, 'expected at least one column')
    .refine((names) => new Set(names).size === names.length, 'expected each column once')
export const columnList = columnsAs('expected a list of columns')

const key = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  columnsAs('expected a column or a list of columns'),
)
const relation = readable(
  'expected a table or view as schema.name (in the schema public the name is enough)',
  parseRelation,
)

export const customersSchema = section({
  table: relation.optional(),
  view: relation.optional(),
  key,
  searchPath: z.array(nameOf('schema'), 'expected a list of schemas').default([]),
  rowSecurity: oneOf(['refuse', 'apply']).default('refuse'),
}).transform(({ table, view, ...others }, context) => {
  const found = table ?? view
  if (found && !(table && view)) return { relation: found, ...others, isView: view !== undefined }
  context.addIssue({ code: 'custom', message: 'expected either `table` or `view`, and not both' })
  return z.NEVER
})

/** Where customers are found; a view has no changes of its own. */
export type Customers = Frozen<z.output<typeof customersSchema>>

const watched = section({ table: relation, key, columns: columnList.optional() })
export const watchSchema = z
  .array(
    watched.transform(({ table, ...others }) => ({ relation: table, ...others })),
    'expected a list of { table, key }',
  )
  .min(1, 'expected at least one table')

const clearing = oneOf(['null', 'empty', 'omit'])
const CLEARING = "expected 'null', 'empty' or 'omit', or an object with one of these for each field"

export function forFields<T>(make: (field: OptionalField) => T) {
  return Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, make(field)])) as Record<OptionalField, T>
}
const clearingByField = byForm<Record<OptionalField, ClearWith>>((raw) =>
  isRecord(raw)
    ? section(forFields(() => clearing.default('null')))
    : z.enum(clearing.options, CLEARING).transform((how) => forFields(() => how)),
)
export const clearWithSchema = z.preprocess((raw) => raw ?? 'null', clearingByField)
