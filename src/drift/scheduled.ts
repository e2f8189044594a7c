// The checks that workers make by a schedule: of customers whose last selection (`asked_at`) is the oldest.
import type { Pool } from 'pg'
import { type Client, keysBy } from '../database/client.ts'
import { alone } from '../ledger/alone.ts'
import type { CustomerKey } from '../model/customer.ts'
import { dueChecks } from './open-findings.ts'
import { makeAllowance, readPreconditions, SHARE, type Unsettled } from './preconditions.ts'
import { CHECKABLE, type Stopped } from './words.ts'

/** `live`: a change waits for a call. `busy`: another process runs. `rest`: no customer is due. `time`: the next run goes on. */
type ScheduledEnd = Unsettled | Stopped | 'live' | 'busy' | 'rest' | 'time'

type ScheduledOptions = Parameters<typeof readPreconditions>[1] & {
  readonly pool: Pool
  readonly periodMs: number
  readonly lastsMs: number
  readonly most: number
  readonly check: (keys: readonly CustomerKey[]) => Promise<{ readonly stopped: Stopped | 'mapping' | null }>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly now: () => number
  readonly signal: AbortSignal
}

const LONGEST_MS = 5000
const SHORTEST_MS = 250

/** How often the schedule runs: for a long period seldom enough that it costs nothing, for a short one often enough. */
export function scheduleMs(periodMs: number): number {
  return Math.round(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, periodMs / 50)))
}

const BEAT_MS = 250

export function makeScheduledRun(options: ScheduledOptions): () => Promise<ScheduledEnd> {
  const { pool, periodMs, most, check, now, signal } = options
  const allowance = makeAllowance(now)

  return async () => (await alone(pool, 'schedule', run)) ?? 'busy'

  async function run(): Promise<ScheduledEnd> {
    await pool.query(SINCE)
    const until = now() + options.lastsMs
    for (;;) {
      const end = await beat()
      if (end !== null) return end
      if (now() + BEAT_MS >= until) return 'time'
      await options.sleep(BEAT_MS, signal)
      if (signal.aborted) return 'asked'
    }
  }

  async function beat(): Promise<ScheduledEnd | null> {
    const { unsettled, rate, liveWaits } = await readPreconditions(pool, options)
    if (unsettled) return unsettled
    if (rate <= 0) return 'pace'
    if (liveWaits) return 'live'
    const room = Math.min(most, allowance.refill(rate * SHARE.schedule))
    if (room < 1) return null
    // A suspicion is cleared up before another one is raised.
    const again = await dueChecks(pool, room)
    const keys = [...again, ...(await oldest(pool, periodMs, room - again.length))]
    if (keys.length === 0) return 'rest'
    allowance.spend(keys.length)
    return (await check(keys)).stopped
  }
}

/** A period without checks means something only once workers have run for so long. */
const SINCE = 'UPDATE rollcall.pace SET checks_since = clock_timestamp() WHERE checks_since IS NULL'

/** Sooner than the period ends, so that there is time for customers that could not be checked when they were due. */
const SOONER = 0.9

/**
 * Marks them as selected, so that a skipped customer comes last. A time in the future was written before the clock was
 * set back.
 */
const OLDEST = `
WITH due AS MATERIALIZED (
  SELECT key FROM (
    (SELECT key FROM rollcall.ledger l WHERE ${CHECKABLE} AND l.asked_at IS NULL LIMIT $2)
    UNION ALL (SELECT key FROM rollcall.ledger l WHERE ${CHECKABLE} AND l.asked_at > now() LIMIT $2)
    UNION ALL (SELECT key FROM rollcall.ledger l WHERE ${CHECKABLE} AND l.asked_at < now() - $1 * interval '1 ms'
      ORDER BY l.asked_at LIMIT $2)) d
  LIMIT $2),
taken AS MATERIALIZED (SELECT l.key FROM rollcall.ledger l JOIN due USING (key) ORDER BY l.key FOR UPDATE OF l SKIP LOCKED)
UPDATE rollcall.ledger l SET asked_at = clock_timestamp() FROM taken WHERE l.key = taken.key RETURNING l.key`

async function oldest(client: Client, periodMs: number, limit: number): Promise<readonly CustomerKey[]> {
  if (limit <= 0) return []
  return await keysBy(client, OLDEST, [periodMs * SOONER, limit])
}
