import type { Pool } from 'pg'
import { makeBatch } from '../database/batch.ts'
import { ms } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import { CURRENT_GENERATION, LOCK_GENERATION } from './generation.ts'
import type { Lease } from './lease.ts'
import { MAY_HAVE_WRITTEN } from './lookups.ts'
import { type BoundTo, isCurrent } from './target.ts'

/** A live claim: until its lifetime ends, no other process may write to the service for this customer. (A check may still read.) */
export type Claim = {
  readonly id: string
  readonly token: string
  readonly key: CustomerKey
  /** The version that an ending of this claim settles. */
  readonly version: string
  /** The remote state is not known: a GET comes before a write. */
  readonly unknown: boolean
  /** A field that no GET shows counts as never acknowledged. */
  readonly hiddenUnknown: boolean
  /** Status 0 where 4 was acknowledged may be the work of a call, and says nothing of a trial. */
  readonly statusUnknown: boolean
  readonly attempts: number
  /** An earlier claim may have written, and its outcome is lost. False where only another customer's claim asked for the lookup. */
  readonly mayHaveWritten: boolean
  /** Since when a change waits (`changed_at`), in milliseconds since 1970. */
  readonly changedAtMs: number | null
  /** The database's clock at the claim, in milliseconds since 1970: the `now` of the mapping. */
  readonly nowMs: number
  /** Until `replan_at`, negative if it has passed. Null: there is none, also if this claim was noted for it. */
  readonly replanInMs: number | null
  readonly generation: string
}

/**
 * This statement runs alone, and is committed before anything is read. The mark in `call_token` is what a killed process leaves
 * behind; without it its half-done call would be forgotten. `not_before` may have been set after the lease, when
 * a late request turned out to be on its way. Only a process with the active mapping and target claims. No row: the lease is void or may not be claimed now,
 * and nothing is called.
 */
const CLAIM = `
WITH asked AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS a (id, token)),
locked AS MATERIALIZED (
  SELECT o.id, o.token, o.call_token, o.due_at, o.not_before
  FROM rollcall.owed o WHERE o.id = ANY($1::bigint[]) ORDER BY o.key FOR UPDATE OF o),
${LOCK_GENERATION}
UPDATE rollcall.owed o SET call_token = o.token, due_at = now() + $3 * interval '1 ms'
FROM asked JOIN locked USING (id, token)
WHERE o.id = locked.id AND locked.call_token IS NULL AND locked.due_at > now()
  AND (locked.not_before IS NULL OR locked.not_before <= now())
  AND ${isCurrent({ binding: '$4', fingerprint: '$5' })}
RETURNING o.id::text, o.token::text, o.key, o.change_version::text AS version, o.unknown, o.hidden_unknown AS "hiddenUnknown",
  o.status_unknown AS "statusUnknown", o.attempts, ${MAY_HAVE_WRITTEN} AS "mayHaveWritten", ${CURRENT_GENERATION}::text AS generation,
  ${ms('o.changed_at')} AS "changedAtMs",
  ${ms('o.replan_at - now()')} AS "replanInMs",
  ${ms('now()')} AS "nowMs"`

/** `lastsMs`: until another process may look up the user, which is the claim's lifetime and the lag of the service. */
type Options = BoundTo & { readonly lastsMs: number }

export function makeClaim(pool: Pool, { lastsMs, binding, fingerprint }: Options) {
  return makeBatch<Lease, Claim | null>(async (leases) => {
    const { rows } = await pool.query<Claim>(CLAIM, [
      leases.map((lease) => lease.id),
      leases.map((lease) => lease.token),
      lastsMs,
      binding,
      fingerprint,
    ])
    const claims = new Map(rows.map((claim) => [claim.token, claim]))
    return leases.map((lease) => {
      // A lease that was delivered twice into one batch is claimed by the first only.
      const claim = claims.get(lease.token) ?? null
      claims.delete(lease.token)
      return claim
    })
  })
}
