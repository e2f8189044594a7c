import type { Pool } from 'pg'

/** Permits are reserved for this long ahead: short enough that a change of pace is felt at once. */
export const HORIZON_MS = 200

/** `count` permits, the first usable in `startMs`, each next one `spacingMs` later. */
export type Reservation = { readonly count: number; readonly startMs: number; readonly spacingMs: number }

/**
 * One row paces all processes, whichever queue is used: the row holds when the next permit becomes free, and
 * a reservation moves that on by as many permits as fit into the horizon.
 */
const RESERVE = `
WITH p AS MATERIALIZED (
  SELECT rate, clock_timestamp() AS now, greatest(next_free, clock_timestamp(), not_before) AS start
  FROM rollcall.pace WHERE id = 1 FOR UPDATE),
r AS (
  SELECT *, greatest(0, least($1::int,
    1 + floor(rate * extract(epoch FROM now + $2 * interval '1 ms' - start))))::int AS count FROM p),
spent AS (
  UPDATE rollcall.pace SET next_free = r.start + r.count * interval '1 s' / r.rate FROM r
  WHERE id = 1 AND r.count > 0)
SELECT count, (extract(epoch FROM start - now) * 1000)::float8 AS "startMs", (1000 / rate)::float8 AS "spacingMs"
FROM r`

export async function reservePermits(pool: Pool, count: number): Promise<Reservation> {
  const { rows } = await pool.query<Reservation>(RESERVE, [count, HORIZON_MS])
  const [reservation] = rows
  if (!reservation) throw new Error('the pace row is missing')
  return reservation
}

/** Sets the ceiling for everybody; the rate follows, as nothing adapts it below the ceiling. */
export async function setCeiling(pool: Pool, callsPerSecond: number): Promise<void> {
  await pool.query(
    `INSERT INTO rollcall.pace (id, ceiling, rate) VALUES (1, $1, $1)
     ON CONFLICT (id) DO UPDATE SET ceiling = $1, rate = $1 WHERE pace.ceiling <> $1`,
    [callsPerSecond],
  )
}

/** The longest that one Retry-After may stop everybody. */
const LONGEST_HOLD_MS = 3_600_000

/** The service said when it wants to be called again: that binds every process. */
export async function holdOff(pool: Pool, ms: number): Promise<void> {
  await pool.query(
    `UPDATE rollcall.pace SET not_before = greatest(not_before, clock_timestamp() + $1 * interval '1 ms')
     WHERE id = 1`,
    [Math.min(ms, LONGEST_HOLD_MS)],
  )
}

/** Calls per second that all processes together may make now. */
export async function currentRate(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ rate: number }>(
    'SELECT CASE WHEN not_before > clock_timestamp() THEN 0 ELSE rate END AS rate FROM rollcall.pace WHERE id = 1',
  )
  return rows[0]?.rate ?? 0
}
