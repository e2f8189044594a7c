import type { Pool } from 'pg'
import { type Lease, leaseKey } from '../ledger/lease.ts'
import { note } from '../ledger/note.ts'
import { UNDER_WAY } from '../ledger/owe.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'

type Options = {
  readonly pool: Pool
  readonly key: CustomerKey
  readonly leaseMs: number
  readonly sleep: (ms: number) => Promise<void>
  /** Told once, when the customer cannot be had at once, with the reason. */
  readonly onWait: (why: 'busy' | 'too-early') => void
  readonly stop: AbortSignal
}

const POLL_MS = 100

/**
 * Notes a customer and leases it at once, past the queue. It may have to wait: for a worker that has it under
 * way, or for a late request of an earlier call to have landed (`not_before`), which nothing may shorten.
 */
export async function noteAndLease(options: Options): Promise<Lease | null> {
  const { pool, key, leaseMs, sleep, onWait, stop } = options
  let told = false
  await note(pool, [{ key, lane: LANE.change, at: new Date() }])
  while (!stop.aborted) {
    const lease = await leaseKey(pool, key, leaseMs)
    if (lease) return lease
    const { rows } = await pool.query<{ busy: boolean; owed: boolean }>(
      `SELECT ${UNDER_WAY} AS busy, due_at IS NOT NULL AS owed FROM rollcall.owed o WHERE key = $1`,
      [key],
    )
    // A worker was quicker and has settled it meanwhile: look ourselves, so that the steps can be told.
    if (!rows[0]?.owed) await note(pool, [{ key, lane: LANE.change, at: new Date() }])
    else if (!told) {
      onWait(rows[0].busy ? 'busy' : 'too-early')
      told = true
    }
    await sleep(POLL_MS)
  }
  return null
}
