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

/** Not yet, and why: the cap, or a watched table was truncated and nobody has said what that means. */
export type Leave = { readonly waitMs: number; readonly code: 'revocation-cap' | 'truncated' }

/** How long to wait for the others who reserve; each does so for a moment only. */
const LOCK_TIMEOUT_MS = 2000
const HELD_MS = 60_000

/**
 * Reserves one loss of access right before the call, keyed by customer and version, so that an attempt that is
 * repeated within the window counts once. `waitMs` 0: go ahead. The lock comes first and the count second, in a
 * snapshot of its own: many workers would otherwise all read "one below the limit".
 */
export async function reserveRevocation(
  pool: Pool,
  { key, version }: Revocation,
  random: () => number,
): Promise<Leave> {
  const client = await pool.connect()
  let broken = false
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...LOCK])
    const { rows } = await client.query<Counted>(COUNT, [key, version, WINDOW_MS])
    const { known = false, taken = 0, oldestMs = 0, waiting = 0, truncated = false } = rows[0] ?? {}
    const free = !truncated && (known || taken < REVOCATIONS_PER_MINUTE)
    if (free && !known)
      await client.query('INSERT INTO rollcall.revocation (key, version) VALUES ($1, $2)', [key, version])
    await client.query('COMMIT')
    if (truncated) return { waitMs: Math.round(HELD_MS * (1 + random())), code: 'truncated' }
    return { waitMs: free ? 0 : waitMs({ oldestMs, waiting, random }), code: 'revocation-cap' }
  } catch (error) {
    broken = true
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    return { waitMs: LOCK_TIMEOUT_MS, code: 'revocation-cap' }
  } finally {
    client.release(broken)
  }
}

const LOCK_NOT_AVAILABLE = '55P03'

type Counted = { known: boolean; taken: number; oldestMs: number; waiting: number; truncated: boolean }

const COUNT = `
SELECT count(*)::int AS taken,
  coalesce(bool_or(key = $1 AND version = $2), false) AS known,
  coalesce(extract(epoch FROM clock_timestamp() - min(at)) * 1000, 0)::float8 AS "oldestMs",
  (SELECT count(*)::int FROM rollcall.ledger WHERE state = 'failing' AND reason->>'code' = 'revocation-cap') AS waiting,
  EXISTS (SELECT FROM rollcall.capture_mark WHERE kind = 'truncate' AND resolved_at IS NULL) AS truncated
FROM rollcall.revocation WHERE at > clock_timestamp() - $3 * interval '1 ms'`

/**
 * How long to wait, never 0: the next free place, and beyond it spread over as many minutes as those who wait
 * already need. Thousands who wait must not be tried every minute: that would crowd out the live changes.
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
