// The sections that stand for themselves, with their defaults, and the types that follow; define.ts says what each means.
import { z } from 'zod'
import { readDuration } from '../model/duration.ts'
import type { RollcallConfig } from './define.ts'

function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: 'expected an object' })
}

export function oneOf<const T extends readonly string[]>(options: T) {
  return z.enum(options, { error: `expected ${options.map((option) => `'${option}'`).join(' or ')}` })
}

function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}

/** What timers and intervals can hold: about 24 days. */
const MAX_MS = 2_147_483_647
const MOST_DAYS = 3650
const flag = z.boolean({ error: 'expected true or false' })
const RATE = { error: 'expected a number of calls per second above 0' }
const SHARE = { error: 'expected a share from 0 to 1' }

/** The larger of a number of customers and a share (0 to 1). 0 and 0 would hold everybody, to look at each by hand. */
function brakeLimit(most: { customers: number; share: number }) {
  const share = z.number(SHARE).min(0, SHARE).max(1, SHARE).default(most.share)
  return section({ customers: whole(0, MAX_MS).default(most.customers), share }).prefault({})
}

const PERIOD = "expected a time from '1s' to '365d', like '7d' or '12h', or false"
const SHORTEST_MS = 1000
const LONGEST_MS = 365 * 86_400_000

/** With its unit always: nobody means a number of milliseconds here. */
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
    ceiling: z.number(RATE).positive(RATE).default(50),
    concurrency: whole(1, 1000).default(20),
  }).prefault({}),
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
  brake: section({
    windowHours: whole(1, 720).default(24),
    changes: brakeLimit({ customers: 100, share: 0.01 }),
    creates: brakeLimit({ customers: 10_000, share: 0.1 }),
  }).prefault({}),
  capture: section({
    outboxLimitMb: whole(1, 1_048_576).default(1024),
    checkHours: whole(0, 8760).default(24),
  }).prefault({}),
  history: section({ keepDays: whole(1, MOST_DAYS).default(14) }).prefault({}),
  reconcile: section({
    period: period.prefault('7d'),
    mode: oneOf(['report', 'repair']).default('report'),
    keepDays: whole(1, MOST_DAYS).default(90),
  })
    .transform(({ period: periodMs, ...rest }) => ({ ...rest, periodMs }))
    .prefault({}),
} satisfies { readonly [K in keyof RollcallConfig]?: z.ZodType }

type Schemas = typeof settingSchemas
type Frozen<T> = { readonly [K in keyof T]: T[K] extends object ? Frozen<T[K]> : T[K] }

/** With every default filled in; define.ts says what each means. */
export type Sections = Frozen<{ [K in keyof Schemas]: z.output<Schemas[K]> }>
