import type { Pool } from 'pg'
import { makeBatch } from '../database/batch.ts'
import { type Client, oneRow } from '../database/client.ts'
import { type CustomerKey, LANES, type Lane } from '../model/customer.ts'
import { AFTER_CRASH } from './lookups.ts'

/** A row id and a single-use token, bigints as text, and the lane: that is all that the queue gets to know. */
export type Lease = { readonly id: string; readonly token: string; readonly lane: Lane }

/**
 * A fresh token makes every earlier lease of the row void, which makes deduplication in the queue unnecessary. AFTER_CRASH
 * reads `call_token` as it was before.
 */
const LEASED = `
  token = nextval('rollcall.token'),
  due_at = now() + $2 * interval '1 ms',
  call_token = NULL,
  -- plain: these keep their values
  ${AFTER_CRASH}`

const LEASE_LANE = (order: 'ASC' | 'DESC') => `
WITH due AS MATERIALIZED (
  SELECT key FROM rollcall.owed
  -- Compared as a row, in the order of the index. Otherwise a plan that expects few due rows sorts all of them.
  WHERE (lane, due_at) >= ($1::smallint, '-infinity') AND (lane, due_at) <= ($1, now()) AND due_at IS NOT NULL
  ORDER BY lane ${order}, due_at ${order} LIMIT $3 FOR UPDATE SKIP LOCKED)
UPDATE rollcall.owed o SET ${LEASED}
WHERE o.key = ANY (ARRAY(SELECT key FROM due)) RETURNING o.id::text, o.token::text, o.lane`

const LEASE_KEY = `
WITH due AS MATERIALIZED (
  SELECT key FROM rollcall.owed WHERE key = $1 AND due_at <= now() FOR UPDATE)
UPDATE rollcall.owed o SET ${LEASED}
FROM due WHERE o.key = due.key RETURNING o.id::text, o.token::text, o.lane`

type LeaseOptions = {
  readonly lane: Lane
  readonly leaseMs: number
  readonly limit: number
  /** Takes customers who became due last, instead of those who are due for longest; default false. */
  readonly newest?: boolean
}

/** Leases due rows of one lane, by default those that are due for longest. The caller enqueues them after the commit. */
export async function leaseLane(
  client: Client,
  { lane, leaseMs, limit, newest = false }: LeaseOptions,
): Promise<Lease[]> {
  if (limit <= 0) return []
  const { rows } = await client.query<Lease>(LEASE_LANE(newest ? 'DESC' : 'ASC'), [lane, leaseMs, limit])
  return rows
}

/** Leases one customer if it is due, for a sync by hand that needs no queue. */
export async function leaseKey(client: Client, key: CustomerKey, leaseMs: number): Promise<Lease | null> {
  return (await client.query<Lease>(LEASE_KEY, [key, leaseMs])).rows[0] ?? null
}

/**
 * Takes back leases that were not claimed. Their tokens are void from then on. `due_at` is again the time of the change, if there was one:
 * so it shows for how long no worker has taken the customer, however often it is leased.
 */
export async function unlease(client: Client, leases: readonly Lease[]): Promise<void> {
  await client.query(
    `WITH l AS MATERIALIZED (
       SELECT o.id FROM rollcall.owed o JOIN unnest($1::bigint[], $2::bigint[]) AS u (id, token) USING (id, token)
       WHERE o.call_token IS NULL ORDER BY o.key FOR UPDATE OF o)
     UPDATE rollcall.owed o SET token = NULL, due_at = greatest(least(o.changed_at, now()), o.not_before) FROM l WHERE o.id = l.id`,
    [leases.map((lease) => lease.id), leases.map((lease) => lease.token)],
  )
}

/** Takes back one lease; calls that come together share a statement. */
export function makeUnlease(pool: Pool): (lease: Lease) => Promise<null> {
  return makeBatch<Lease, null>(async (leases) => {
    await unlease(pool, leases)
    return leases.map(() => null)
  })
}

type QueueState = {
  /** Leases that are out and not claimed yet: those on the queue now, of all processes. */
  readonly queued: number
  /** Tokens that were ever given out. The checks' are among them, so the queue may get a little more than is carried out. */
  readonly issued: number
  readonly due: readonly Lane[]
}

export async function readQueueState(client: Client): Promise<QueueState> {
  return await oneRow<QueueState>(
    client,
    `SELECT count(*)::int AS queued,
       coalesce(pg_sequence_last_value('rollcall.token'), 0)::float8 AS issued,
       ARRAY(SELECT l.lane FROM unnest($1::smallint[]) AS l (lane)
         -- EXISTS would become a join that reads every due row.
         WHERE (SELECT min(d.due_at) FROM rollcall.owed d WHERE d.lane = l.lane) <= now()) AS due
     FROM rollcall.owed WHERE token IS NOT NULL AND call_token IS NULL AND due_at > now()`,
    [LANES],
  )
}
