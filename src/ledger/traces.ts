// Written down before a call, because a crash or a lost answer would hide it.
import type { Pool } from 'pg'
import { makeBatch } from '../database/batch.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Claim } from './claim.ts'

/** For a call that takes a customer out of its trial: if its outcome is lost, status 0 is its work, and not the trial's end. */
const MARK_STATUS = `
UPDATE rollcall.owed SET status_unknown = true
WHERE id = $1 AND token = $2 AND call_token = $2 AND NOT status_unknown`

export async function markStatusUnknown(pool: Pool, { id, token }: Claim): Promise<void> {
  await pool.query(MARK_STATUS, [id, token])
}

/** If the outcome of the write is lost and the customer changes back, the difference at the service is our own work. */
const END_DISCARD = `
UPDATE rollcall.ledger l SET discard = NULL, state = 'failing', since = now(), reason = '{"code": "unknown"}' FROM rollcall.owed o
WHERE o.id = $1 AND o.token = $2 AND o.call_token = $2 AND l.key = o.key AND l.discard IS NOT NULL`

export async function endDiscard(pool: Pool, { id, token }: Claim): Promise<void> {
  await pool.query(END_DISCARD, [id, token])
}

/** The trace of a first write that a crash hides: without it a customer out of scope seems never to have been called for. */
const MARK_ASKED = `
UPDATE rollcall.ledger SET remote = 'unknown'
WHERE key IN (SELECT key FROM rollcall.ledger WHERE key = ANY($1) AND remote = 'unasked' ORDER BY key FOR UPDATE)`

export function makeMarkAsked(pool: Pool): (key: CustomerKey) => Promise<void> {
  return makeBatch<CustomerKey, void>(async (keys) => {
    await pool.query(MARK_ASKED, [keys])
    return keys.map(() => undefined)
  })
}
