import type { Pool } from 'pg'
import { oneRow } from '../database/client.ts'
import { LONGEST_HOLD_MS } from './common.ts'

/** Permits are reserved for this long ahead: short enough that a change of pace is felt at once. */
export const HORIZON_MS = 200

/** `count` permits, the first usable in `startMs`, each next one `spacingMs` later. */
export type Reservation = {
  readonly count: number
  readonly startMs: number
  readonly spacingMs: number
  readonly epoch: string
  /** No process may call: the service is out of order. */
  readonly closed: boolean
  /** A good call changes something, so that it has to be reported. */
  readonly troubled: boolean
}

/** `isTroubled` of common.ts. */
const TROUBLED = `breaker = 'trying' OR trouble ? 'troubles' OR not_before IS NOT NULL`

/** Further ahead than one can be asked to wait is a time of a clock that was set back. */
export const BINDS = `not_before <= clock_timestamp() + interval '${LONGEST_HOLD_MS} ms'`

/** At the lowest ceiling the next permit is ten seconds ahead. */
const LONGEST_RESERVED_MS = 15_000

/** From nothing to the ceiling in so many seconds. */
const RISE_SECONDS = 30
/** Calls per second that are added in a second at least, so that a low ceiling is reached as well. */
const LEAST_RISE = 0.5
/** Time without a request proves nothing: more than this is not counted between two who ask. */
const LONGEST_RISE_MS = 2000
/** The rate now: it has risen since the last permits were given. */
const RAISED = `least(ceiling, rate + greatest(ceiling / ${RISE_SECONDS}, ${LEAST_RISE})
  * least(${LONGEST_RISE_MS} / 1000.0, greatest(0, extract(epoch FROM clock_timestamp() - raised_at)))::float8)`

/**
 * One row paces all processes, whichever queue is used: the row holds when the next permit becomes free, and
 * a reservation moves that on by as many permits as fit into the horizon. It raises the rate for the time since the
 * last one.
 */
const RESERVE = `
WITH p AS MATERIALIZED (
  SELECT ${RAISED} AS rate, epoch, clock_timestamp() AS now,
    -- Later than they can be are times of a clock that was set back: they hold up no call.
    greatest(CASE WHEN next_free <= clock_timestamp() + interval '${LONGEST_RESERVED_MS} ms' THEN next_free END,
      clock_timestamp(), CASE WHEN ${BINDS} THEN not_before END) AS start,
    breaker = 'open' AS closed, ${TROUBLED} AS troubled
  FROM rollcall.pace WHERE id = 1 FOR UPDATE),
r AS (
  SELECT *, CASE WHEN closed THEN 0 ELSE greatest(0, least($1::int,
    1 + floor(rate * extract(epoch FROM now + $2 * interval '1 ms' - start))))::int END AS count FROM p),
spent AS (
  UPDATE rollcall.pace SET next_free = r.start + r.count * interval '1 s' / r.rate, rate = r.rate, raised_at = r.now
  FROM r WHERE id = 1 AND r.count > 0)
SELECT count, (extract(epoch FROM start - now) * 1000)::float8 AS "startMs", (1000 / rate)::float8 AS "spacingMs",
  epoch::text AS epoch, closed, troubled
FROM r`

export async function reservePermits(pool: Pool, count: number): Promise<Reservation> {
  return await oneRow<Reservation>(pool, RESERVE, [count, HORIZON_MS])
}

/** By hand: it stands until a configuration asks for another one than now. The rate falls at once, and rises slowly. */
export async function setCeiling(pool: Pool, callsPerSecond: number): Promise<void> {
  await pool.query(
    `INSERT INTO rollcall.pace AS p (id, ceiling, rate) VALUES (1, $1, $1)
     ON CONFLICT (id) DO UPDATE SET ceiling = $1, rate = least(p.rate, $1) WHERE p.ceiling <> $1`,
    [callsPerSecond],
  )
}

/** At the start of a worker: what was set by hand stands while the configuration asks for what it asked for then. */
export async function configureCeiling(pool: Pool, callsPerSecond: number): Promise<void> {
  await pool.query(
    `INSERT INTO rollcall.pace AS p (id, ceiling, configured, rate) VALUES (1, $1, $1, $1)
     ON CONFLICT (id) DO UPDATE SET ceiling = $1, configured = $1, rate = least(p.rate, $1)
       WHERE p.configured IS DISTINCT FROM $1`,
    [callsPerSecond],
  )
}

/** By a person: what the service asked for is over. */
export async function endHold(pool: Pool): Promise<void> {
  await pool.query('UPDATE rollcall.pace SET not_before = NULL WHERE id = 1')
}

/** Calls per second that all processes together may make now; 0 while they are held or stopped. */
export async function currentRate(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ rate: number }>(
    `SELECT CASE WHEN (not_before > clock_timestamp() AND ${BINDS}) OR breaker = 'open' THEN 0 ELSE rate END AS rate
     FROM rollcall.pace WHERE id = 1`,
  )
  return rows[0]?.rate ?? 0
}
