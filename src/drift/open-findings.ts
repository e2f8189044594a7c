// The open findings of customers, suspicions among them: which are due, what they say, and what a check makes of them.
import { type Client, keysBy } from '../database/client.ts'
import { ms } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { KeptDrift, StoredFinding } from './step.ts'
import type { Resolved } from './words.ts'

/** A customer that is rejected or discarded is not checked: its finding ends without a call (step.ts). */
const DUE = `
SELECT key FROM (
  SELECT f.key, f.next_check_at FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
  WHERE f.resolved_at IS NULL AND f.next_check_at <= now() AND l.state IS DISTINCT FROM 'held'
  UNION ALL
  SELECT f.key, NULL FROM rollcall.ledger l JOIN rollcall.finding f USING (key)
  WHERE f.resolved_at IS NULL AND f.next_check_at IS NULL AND l.state IN ('rejected', 'discarded')) due
ORDER BY next_check_at LIMIT $1`

/** Customers whose next check is due, the longest due first; one that is held waits for a person. */
export async function dueChecks(client: Client, limit: number): Promise<readonly CustomerKey[]> {
  return await keysBy(client, DUE, [limit])
}

/** When the present service was sampled; a time of the future is one of before the clock was set back. */
export const SAMPLED_AT = `(SELECT sampled_at FROM rollcall.pace WHERE sampled_at <= clock_timestamp()
  AND sampled_at > (SELECT coalesce(max(bound_at), '-infinity') FROM rollcall.target))`

/** Whether a sample was taken since a finding (`f`) was last seen; since a time of the future every one was. */
export const SAMPLED = `coalesce(f.last_seen < ${SAMPLED_AT} OR f.last_seen > clock_timestamp() AND ${SAMPLED_AT} IS NOT NULL, false)`

/** `sampled`: a sample was asked since it was last seen. */
export type OpenFinding = StoredFinding & { readonly sampled: boolean }

const OPEN = `
SELECT f.key, f.id::text, f.kind, to_jsonb(f.fields) AS fields, to_jsonb(f.pending) AS pending, f.cause, f.access, f.checks, f.repairs, f.desired AS "desiredDigest",
  ${ms('f.next_check_at - now()')} AS "nextInMs",
  coalesce(l.acknowledged_at > f.repaired_at, false) AS "writtenSinceRepair",
  coalesce(l.acknowledged_at > f.last_seen, false) AS "writtenSinceSeen", ${SAMPLED} AS sampled
FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
WHERE f.key = ANY($1) AND f.resolved_at IS NULL ORDER BY f.key FOR UPDATE OF f`

export async function lockOpen(client: Client, keys: readonly CustomerKey[]) {
  const { rows } = await client.query<OpenFinding & { key: CustomerKey }>(OPEN, [keys])
  return new Map(rows.map(({ key, ...open }) => [key, open]))
}

export async function forgetFindings(client: Client, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await client.query('DELETE FROM rollcall.finding WHERE id = ANY($1::bigint[])', [ids])
}

/** A finding as it is to be. `id`: null of a new one; `seen`: by this check; `anew`: another suspicion; `how`: it ends. */
export type FindingRow = KeptDrift &
  Pick<StoredFinding, 'desiredDigest' | 'checks' | 'nextInMs'> & {
    readonly id: string | null
    readonly key: CustomerKey
    readonly userId: string | null
    readonly seen: boolean
    readonly anew: boolean
    readonly how: Resolved | null
  }

const GIVEN = `jsonb_to_recordset($1::jsonb) AS e (id bigint, key text, "userId" text, kind text, fields text[],
  pending text[], cause text, access text, "desiredDigest" text, checks integer, "nextInMs" float8, seen boolean, anew boolean, how text)`
const NEXT = `now() + e."nextInMs" * interval '1 ms'`

const CHANGE = `
UPDATE rollcall.finding f SET kind = e.kind, fields = e.fields, access = e.access, desired = e."desiredDigest", checks = e.checks,
  pending = CASE WHEN e.how IS NULL THEN e.pending ELSE '{}' END,
  cause = CASE e.how WHEN 'normalised' THEN 'normalised' ELSE e.cause END,
  repairs = CASE WHEN f.fields = e.fields THEN f.repairs ELSE 0 END,
  last_seen = CASE WHEN e.seen THEN now() ELSE f.last_seen END,
  first_seen = CASE WHEN e.anew THEN now() ELSE f.first_seen END,
  next_check_at = ${NEXT}, resolved_how = e.how, resolved_at = CASE WHEN e.how IS NOT NULL THEN now() END
FROM ${GIVEN}
WHERE f.id = e.id`

/** `checks` is 1, by the table's default. One that comes back within a day of its repair goes on where that ended: the service may not take it. */
const REPAIRS = `(SELECT CASE WHEN p.resolved_how = 'repaired' AND p.resolved_at > now() - interval '1 day' AND p.kind = e.kind AND p.fields = e.fields THEN p.repairs END
  FROM rollcall.finding p WHERE p.key = e.key COLLATE "C" ORDER BY p.id DESC LIMIT 1)`

const INSERT = `
INSERT INTO rollcall.finding (key, user_id, kind, fields, pending, cause, access, desired, next_check_at, repairs)
SELECT e.key, e."userId", e.kind, e.fields, e.pending, e.cause, e.access, e."desiredDigest", ${NEXT}, coalesce(${REPAIRS}, 0)
FROM ${GIVEN}
WHERE e.id IS NULL ORDER BY e.key COLLATE "C"
RETURNING id::text, key`

/** Resolves to the ids of new ones by key. Changes go first: one may resolve what stands in the way of a new one. */
export async function writeFindings(client: Client, findings: readonly FindingRow[]) {
  const given = [JSON.stringify(findings)]
  if (findings.some(({ id }) => id !== null)) await client.query(CHANGE, given)
  if (findings.every(({ id }) => id !== null)) return new Map<CustomerKey, string>()
  const { rows } = await client.query<{ id: string; key: CustomerKey }>(INSERT, given)
  return new Map(rows.map(({ id, key }) => [key, id]))
}
