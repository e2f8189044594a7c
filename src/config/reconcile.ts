// The section `reconcile`: how often everybody is looked at, and what becomes of a difference.
import { z } from 'zod'
import { readDuration } from '../model/duration.ts'

export type Reconcile = {
  /** Everybody is looked at within so many milliseconds; null: workers look at nobody. */
  readonly periodMs: number | null
  /** Whether what differs is only reported, or also put right. */
  readonly mode: 'report' | 'repair'
  /** After so many days a finding that has ended goes. */
  readonly keepDays: number
}

const SHORTEST_MS = 1000
const LONGEST_MS = 365 * 86_400_000

const PERIOD = "expected a time from '1s' to '365d', like '7d' or '12h', or false"
const DAYS = 'expected a whole number from 1 to 3650'

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

export const reconcileSchema = z
  .strictObject(
    {
      period: period.prefault('7d'),
      mode: z.enum(['report', 'repair'], { error: "expected 'report' or 'repair'" }).default('report'),
      keepDays: z.int({ error: DAYS }).min(1, { error: DAYS }).max(3650, { error: DAYS }).default(90),
    },
    { error: 'expected an object' },
  )
  .transform(({ period: periodMs, ...rest }) => ({ ...rest, periodMs }))
  .prefault({})
