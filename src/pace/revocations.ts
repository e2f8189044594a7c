import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'

/**
 * Until somebody decides otherwise, at most this many customers lose their access in a minute, in the whole
 * installation: a mass accident in the customer table must not shut everybody out before a person can look.
 */
export const REVOCATIONS_PER_MINUTE = 10
const WINDOW_MS = 60_000
/** Lock class of rollcall, and the lock of the cap (two-integer form of the advisory locks). */
const LOCK = [0x726f6c6c, 2] as const

export type Revocation = { readonly key: CustomerKey; readonly version: string }

/**
 * Reserves one loss of access before the call, keyed by customer and version, so that a repeated attempt
 * counts once. 0: go ahead; else how many milliseconds to wait. The lock comes first and the count second, in
 * a snapshot of its own: many workers would otherwise all read "one below the limit".
 */
export async function reserveRevocation(
  pool: Pool,
  { key, version }: Revocation,
  random: () => number,
): Promise<number> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', LOCK as unknown as number[])
    const { rows } = await client.query<Counted>(COUNT, [key, version, WINDOW_MS])
    const { known = false, taken = 0, oldestMs = 0, waiting = 0 } = rows[0] ?? {}
    const free = known || taken < REVOCATIONS_PER_MINUTE
    if (free && !known)
      await client.query('INSERT INTO rollcall.revocation (key, version) VALUES ($1, $2)', [key, version])
    await client.query('COMMIT')
    return free ? 0 : waitMs({ oldestMs, waiting, random })
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  } finally {
    client.release()
  }
}

type Counted = { known: boolean; taken: number; oldestMs: number; waiting: number }

const COUNT = `
SELECT count(*) FILTER (WHERE recent)::int AS taken,
  coalesce(bool_or(key = $1 AND version = $2), false) AS known,
  coalesce(extract(epoch FROM clock_timestamp() - min(at) FILTER (WHERE recent)) * 1000, 0)::float8 AS "oldestMs",
  (SELECT count(*)::int FROM rollcall.ledger WHERE state = 'failing' AND reason->>'code' = 'revocation-cap') AS waiting
FROM (SELECT *, at > clock_timestamp() - $3 * interval '1 ms' AS recent FROM rollcall.revocation
  WHERE at > clock_timestamp() - interval '1 day') r`

/**
 * How long to wait, never 0: the next free place, and beyond it spread over as many minutes as those who wait already need: thousands
 * who wait must not be tried every minute, for that would crowd out the live changes.
 */
export function waitMs({
  oldestMs,
  waiting,
  random,
}: {
  oldestMs: number
  waiting: number
  random: () => number
}): number {
  const untilFree = Math.max(0, WINDOW_MS - oldestMs)
  const spread = (waiting / REVOCATIONS_PER_MINUTE + 0.1) * WINDOW_MS
  return Math.max(1, Math.round(untilFree + random() * spread))
}

/** How many losses of access are free right now; dispatch does not lease more deletions than can go. */
export async function revocationsFree(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ taken: number }>(
    `SELECT count(*)::int AS taken FROM rollcall.revocation WHERE at > clock_timestamp() - $1 * interval '1 ms'`,
    [WINDOW_MS],
  )
  return Math.max(0, REVOCATIONS_PER_MINUTE - (rows[0]?.taken ?? 0))
}
