// Findings as they are stored: read for a report, for a run and for their next check; written by a check.
import type { Pool } from 'pg'
import { type Client, keysBy, oneRow } from '../database/client.ts'
import { OPEN_RELEASE } from '../ledger/failures.ts'
import { iso } from '../ledger/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import { SAMPLED } from './evidence.ts'
import { readHeldAccess } from './held-access.ts'
import type { KeptDrift, StoredFinding } from './step.ts'
import { EMPTY_TALLY, plus, tallyOf, totalOf } from './tally.ts'
import {
  CHECKED_AT,
  CONFIRMED,
  type DriftVerdict,
  type Finding,
  type Resolved,
  type Skipped,
} from './words.ts'

/** Access that is lost first, then the most serious kinds, then by key. */
const foundSql = (where: string) => `
SELECT f.id::text, f.key, f.user_id AS "userId", f.kind, to_jsonb(f.fields) AS fields, f.cause, f.access, f.checks, f.repairs,
  ${iso('f.first_seen')} AS "firstSeen", ${iso('f.last_seen')} AS "lastSeen",
  ${iso('f.resolved_at')} AS "resolvedAt", f.resolved_how AS "resolvedHow"
FROM rollcall.finding f WHERE ${where}
ORDER BY array_position(ARRAY['lost', 'undue'], f.access) NULLS LAST,
  array_position(ARRAY['unexpected-access', 'missing', 'differs', 'unreadable', 'trial-ended'], f.kind), f.key`

export async function readFound(client: Client, ids: readonly string[]): Promise<readonly Finding[]> {
  return (await client.query<Finding>(foundSql('f.id = ANY($1::bigint[])'), [ids])).rows
}

/** Over a finding (`f`): it counts in a report. An ended trial of a held customer says nothing. */
const COUNTS = `${CONFIRMED} AND NOT (f.kind = 'trial-ended'
  AND EXISTS (SELECT FROM rollcall.ledger h WHERE h.key = f.key AND h.state = 'held'))`

export async function readOpenFound(client: Client): Promise<readonly Finding[]> {
  return (await client.query<Finding>(foundSql(COUNTS))).rows
}

/**
 * The group of each customer in the report; findings come first. A customer never registered that is owed a sync waits for it; any
 * other such record came with a change of a customer out of scope.
 */
const SAID = `CASE WHEN f.counts THEN 'found' WHEN l.state = 'held' AND ${OPEN_RELEASE} THEN 'owed' WHEN l.state IN ('rejected', 'held', 'discarded') THEN l.state
  WHEN f.suspected THEN 'suspected' WHEN NOT f.counts THEN 'unchecked'
  WHEN l.remote = 'unasked' THEN CASE WHEN l.state = 'failing' OR EXISTS (SELECT FROM rollcall.owed o
    WHERE o.key = l.key AND (o.due_at IS NOT NULL OR o.unknown)) THEN 'owed' ELSE 'not-ours' END
  WHEN ${CHECKED_AT} IS NULL OR ${CHECKED_AT} < now() - $1::float8 * interval '1 ms' THEN 'unchecked'
  ELSE 'agrees' END`

const KNOWN = `
SELECT ${SAID} AS said, count(*)::float8 AS count
FROM rollcall.ledger l FULL JOIN (
  SELECT f.key, (${COUNTS}) AS counts, f.checks = 1 AS suspected
  FROM rollcall.finding f WHERE f.resolved_at IS NULL) f USING (key)
GROUP BY said`

/**
 * Counts what is known without a call, as a run would count it: a customer that was checked within the period counts,
 * with its open finding. Null for the period: whenever that was. Each customer stands in one place, so that the figures
 * add up to the population: customers with a record, and those found without one; `chosen`: a check can say something about them.
 */
export async function readKnownOfAll(client: Client, findings: readonly Finding[], periodMs: number | null) {
  type Said = Skipped | 'found' | 'suspected' | 'unchecked' | 'agrees'
  const { rows } = await client.query<{ said: Said; count: number }>(KNOWN, [periodMs])
  const said: Partial<Record<Said, number>> = Object.fromEntries(rows.map(({ said, count }) => [said, count]))
  const { found: _, agrees = 0, suspected = 0, unchecked = 0, ...skipped } = said
  const checked = agrees + findings.length
  const chosen = checked + suspected + unchecked
  const access = await readHeldAccess(client)
  const tally = plus(tallyOf(findings), { ...EMPTY_TALLY, access, heldAccess: access })
  return {
    population: chosen + totalOf(skipped),
    ...{ chosen, suspected, tally: { ...tally, checked, agrees, skipped } },
  }
}

/** A worker's finding about a customer while a run goes on. */
export type Met = { readonly findingId: string; readonly verdict: DriftVerdict }

/** Over a finding that is confirmed. The service's own form was no difference, and an ended trial is none. */
const IS_DRIFT = `f.checks >= 2 AND (f.resolved_at IS NULL OR f.resolved_at >= $2::timestamptz)
  AND f.kind <> 'trial-ended' AND f.resolved_how IS DISTINCT FROM 'normalised'`

/** A check has shown it since then; or a write since then repaired what was found before, and so differed until then. */
const MET = `
SELECT DISTINCT ON (f.key) f.key, f.id::text AS "findingId",
  jsonb_build_object('kind', f.kind, 'fields', f.fields, 'cause', f.cause, 'access', f.access) AS verdict
FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
WHERE f.key = ANY($1) AND ${IS_DRIFT} AND (f.last_seen >= $2::timestamptz
    OR l.acknowledged_at >= greatest(f.repaired_at, $2::timestamptz) AND f.repaired_at IS NOT NULL
      AND coalesce(f.resolved_how = 'repaired', true))
ORDER BY f.key, f.id DESC`

/** The customers among these that have differed since then (ISO 8601) by findings of others, and how. */
export async function metSince(client: Client, keys: readonly CustomerKey[], since: string) {
  if (keys.length === 0) return new Map<CustomerKey, Met>()
  const { rows } = await client.query<Met & { key: CustomerKey }>(MET, [keys, since])
  return new Map(rows.map(({ key, ...met }) => [key, met]))
}

const LATER = `
SELECT count(DISTINCT f.key)::float8 AS count FROM rollcall.finding f
WHERE ${IS_DRIFT} AND f.last_seen >= $2::timestamptz
  AND NOT EXISTS (SELECT FROM rollcall.finding o WHERE o.id = ANY($1::bigint[]) AND o.key = f.key)`

/** Customers who have differed since then beside those of these findings: a run had checked them before they did. */
export async function countFoundLater(client: Client, found: readonly string[], since: string) {
  return (await oneRow<{ count: number }>(client, LATER, [found, since])).count
}

/** A customer that is rejected or discarded is not checked: its finding ends here, without a call. */
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

export async function countOpen(client: Client) {
  const { rows } = await client.query<Pick<DriftVerdict, 'kind' | 'access'> & { count: number }>(
    `SELECT kind, access, count(*)::float8 AS count FROM rollcall.finding f
     WHERE ${CONFIRMED} GROUP BY kind, access ORDER BY kind, access`,
  )
  return rows
}

const PRUNE = `
DELETE FROM rollcall.finding WHERE id IN (
  SELECT id FROM rollcall.finding WHERE resolved_at < now() - $1 * interval '1 day' LIMIT $2 FOR UPDATE SKIP LOCKED)`

/** Deletes findings that were resolved so long ago, at most `limit` of them; resolves to how many. */
export async function pruneFindings(pool: Pool, keepDays: number, limit: number): Promise<number> {
  return (await pool.query(PRUNE, [keepDays, limit])).rowCount ?? 0
}

/** `sampled`: a sample was asked since it was last seen. */
export type OpenFinding = StoredFinding & { readonly sampled: boolean }

const OPEN = `
SELECT f.key, f.id::text, f.kind, to_jsonb(f.fields) AS fields, to_jsonb(f.pending) AS pending, f.cause, f.access, f.checks, f.repairs, f.desired AS "desiredDigest",
  (extract(epoch FROM f.next_check_at - now()) * 1000)::float8 AS "nextInMs",
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
