// One tick of the workers' looks: a few customers at a time, those who were asked about longest ago first, for as long as
// somebody is due and nothing speaks against it. Nothing is kept of it: after an outage it goes on with the oldest.
import type { ClientBase, Pool } from 'pg'
import { alone } from '../ledger/alone.ts'
import type { Binding } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Allowance, refill, type Standstill, speedOfTicks, standstill } from './allowance.ts'
import { readCircumstances } from './circumstances.ts'
import { dueLooks } from './list.ts'
import { VERIFIABLE } from './verifiable.ts'
import type { Verification } from './verify.ts'

/** `busy`: another process is at it. `rest`: nobody is due. `time`: the next tick goes on. */
type TickEnd = Standstill | 'busy' | 'rest' | 'time'

type Options = {
  readonly pool: Pool
  readonly fingerprint: string
  readonly binding: Binding
  readonly credentials: string
  readonly periodMs: number
  /** How long a tick lasts. */
  readonly lastsMs: number
  /** At most so many are looked at at once. */
  readonly most: number
  readonly verify: (keys: readonly CustomerKey[]) => Promise<Verification>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
}

const LONGEST_TICK_MS = 5000
const SHORTEST_TICK_MS = 250

/** How often a tick comes: for a long period seldom enough that it costs nothing, for a short one often enough. */
export function tickMs(periodMs: number): number {
  return Math.round(Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, periodMs / 50)))
}

const BEAT_MS = 250

/** `took`: it goes on after a moment. */
type Beat = Standstill | 'rest' | 'took' | 'time'

function endOf(stopped: NonNullable<Verification['stopped']>): Beat {
  switch (stopped) {
    case 'asked':
      return 'time'
    case 'pace':
      return 'stopped'
    case 'mapping':
      return 'mapping'
    default:
      return stopped satisfies never
  }
}

export function makeTick(options: Options): () => Promise<TickEnd> {
  const { pool, periodMs, most, verify, now, signal } = options
  let allowance: Allowance = { left: 1, at: now() }

  return async () => (await alone(pool, 'round', run)) ?? 'busy'

  async function run(): Promise<TickEnd> {
    await pool.query(SINCE)
    const until = now() + options.lastsMs
    for (;;) {
      const end = await beat()
      if (end !== 'took') return end
      if (now() + BEAT_MS >= until) return 'time'
      await options.sleep(BEAT_MS, signal)
      if (signal.aborted) return 'time'
    }
  }

  async function beat(): Promise<Beat> {
    const circumstances = await readCircumstances(pool, options)
    const why = standstill(circumstances)
    if (why !== null) return why
    allowance = refill(allowance, speedOfTicks(circumstances.rate), now())
    const room = Math.min(most, Math.floor(allowance.left))
    if (room < 1) return 'took'
    // A suspicion is cleared up before another one is raised.
    const again = await dueLooks(pool, room)
    const fresh = await oldest(pool, periodMs, room - again.length)
    const keys = [...again, ...fresh]
    if (keys.length === 0) return 'rest'
    allowance = { ...allowance, left: allowance.left - keys.length }
    const { stopped } = await verify(keys)
    return stopped ? endOf(stopped) : 'took'
  }
}

/** That nobody was looked at for a period means something only once workers have been at it for so long. */
const SINCE = 'UPDATE rollcall.pace SET checks_since = clock_timestamp() WHERE checks_since IS NULL'

/** Sooner than the period ends, so that there is time for those who could not be looked at when they were due. */
const SOONER = 0.9

/**
 * Taking part of them marks them as asked about, so that whoever is passed over for now comes last. A time of the future is
 * one of before the clock was set back.
 */
const OLDEST = `
WITH due AS MATERIALIZED (
  SELECT key FROM (
    (SELECT key FROM rollcall.ledger l WHERE ${VERIFIABLE} AND l.asked_at IS NULL LIMIT $2)
    UNION ALL (SELECT key FROM rollcall.ledger l WHERE ${VERIFIABLE} AND l.asked_at > now() LIMIT $2)
    UNION ALL (SELECT key FROM rollcall.ledger l WHERE ${VERIFIABLE} AND l.asked_at < now() - $1 * interval '1 ms'
      ORDER BY l.asked_at LIMIT $2)) d
  LIMIT $2),
taken AS MATERIALIZED (SELECT l.key FROM rollcall.ledger l JOIN due USING (key) ORDER BY l.key FOR UPDATE OF l SKIP LOCKED)
UPDATE rollcall.ledger l SET asked_at = clock_timestamp() FROM taken WHERE l.key = taken.key RETURNING l.key`

async function oldest(
  client: Pick<ClientBase, 'query'>,
  periodMs: number,
  limit: number,
): Promise<readonly CustomerKey[]> {
  if (limit <= 0) return []
  const { rows } = await client.query<{ key: CustomerKey }>(OLDEST, [periodMs * SOONER, limit])
  return rows.map(({ key }) => key)
}
