import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { makeBatch } from './batch.ts'

/**
 * What was last surely known. `unasked`: no call was ever made for this customer; it counts as absent for a
 * create, which finds out by itself, and not for a removal, since somebody else may have registered the user.
 */
export type RemoteState = 'unasked' | 'unknown' | 'absent' | 'present'
export type CustomerState = 'idle' | 'rejected' | 'failing' | 'held'

/** Digests by field name; see digest.ts. */
export type Digests = Readonly<Record<string, string>>

/** Why a customer is where it is: a code, an HTTP status, names of fields and keys. Never a value. */
export type Reason = {
  readonly code: string
  readonly status?: number
  /** How the call failed when there was no answer. */
  readonly error?: string
  readonly fields?: readonly string[]
  readonly keys?: readonly string[]
  /** Of these fields the ones that the service's answer names. */
  readonly named?: readonly string[]
}

/** The ledger's row of a customer: what was last surely known of its user at the service. */
export type LedgerRecord = {
  readonly userId: string | null
  readonly remote: RemoteState
  readonly sentStatus: number | null
  readonly seenStatus: number | null
  readonly sent: Digests
  readonly seen: Digests
  readonly refused: Digests
  readonly digestKey: string | null
  readonly state: CustomerState
  readonly reason: Reason | null
  readonly issues: readonly FieldIssue[]
}

/** A record as read, with how long ago the service last acknowledged a write, by the database's clock. */
export type KnownRecord = LedgerRecord & { readonly writtenAgoMs: number | null }

/** A customer that no call was ever made for. */
export const NEVER_SETTLED: KnownRecord = {
  userId: null,
  remote: 'unasked',
  sentStatus: null,
  seenStatus: null,
  sent: {},
  seen: {},
  refused: {},
  digestKey: null,
  state: 'idle',
  reason: null,
  issues: [],
  writtenAgoMs: null,
}

const READ = `
SELECT key, user_id AS "userId", remote, sent_status AS "sentStatus", seen_status AS "seenStatus",
  sent, seen, refused, digest_key AS "digestKey", state, reason, issues,
  (extract(epoch FROM clock_timestamp() - acknowledged_at) * 1000)::float8 AS "writtenAgoMs"
FROM rollcall.ledger WHERE key = ANY($1)`

export function makeReadRecord(pool: Pool): (key: CustomerKey) => Promise<KnownRecord> {
  return makeBatch<CustomerKey, KnownRecord>(async (keys) => {
    const { rows } = await pool.query<KnownRecord & { key: CustomerKey }>(READ, [keys])
    const records = new Map(rows.map(({ key, ...record }) => [key, record]))
    return keys.map((key) => records.get(key) ?? NEVER_SETTLED)
  })
}

const CLAIMANTS = 'SELECT user_id AS "userId", key FROM rollcall.ledger WHERE user_id = ANY($1)'

/** The keys of every customer that was ever settled under this `user_id`. */
export function makeReadClaimants(pool: Pool): (userId: string) => Promise<readonly CustomerKey[]> {
  return makeBatch<string, readonly CustomerKey[]>(async (userIds) => {
    const { rows } = await pool.query<{ userId: string; key: CustomerKey }>(CLAIMANTS, [
      [...new Set(userIds)],
    ])
    const claimants = Map.groupBy(rows, (row) => row.userId)
    return userIds.map((userId) => (claimants.get(userId) ?? []).map((row) => row.key))
  })
}
