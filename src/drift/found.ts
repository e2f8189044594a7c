// Reads findings for reports and runs; open-findings.ts has the statements of checks.
import type { Pool } from 'pg'
import { type Client, oneRow } from '../database/client.ts'
import { iso } from '../database/sql.ts'
import { OPEN_RELEASE } from '../ledger/decided.ts'
import type { CustomerKey } from '../model/customer.ts'
import { readHeldAccess } from './held-access.ts'
import { EMPTY_TALLY, plus, tallyOf, totalOf } from './tally.ts'
import { CHECKED_AT, CONFIRMED, type DriftVerdict, type Finding, type Skipped } from './words.ts'

/** Over a finding (`f`). */
const HELD = `EXISTS (SELECT FROM rollcall.ledger h WHERE h.key = f.key AND h.state = 'held')`

/** Held, and not released yet. */
const WAITS = `EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = f.key AND l.state = 'held' AND NOT ${OPEN_RELEASE})`

/** Access that is lost first, then the most serious kinds, then by key. */
const foundSql = (where: string) => `
SELECT f.id::text, f.key, f.user_id AS "userId", f.kind, to_jsonb(f.fields) AS fields, f.cause, f.access, f.checks, f.repairs,
  ${iso('f.first_seen')} AS "firstSeen", ${iso('f.last_seen')} AS "lastSeen",
  ${iso('f.resolved_at')} AS "resolvedAt", f.resolved_how AS "resolvedHow", ${WAITS} AS held
FROM rollcall.finding f WHERE ${where}
ORDER BY array_position(ARRAY['lost', 'undue'], f.access) NULLS LAST,
  array_position(ARRAY['unexpected-access', 'missing', 'differs', 'unreadable', 'trial-ended'], f.kind), f.key`

export async function readFound(client: Client, ids: readonly string[]): Promise<readonly Finding[]> {
  return (await client.query<Finding>(foundSql('f.id = ANY($1::bigint[])'), [ids])).rows
}

/** Over a finding (`f`): it counts in a report. An ended trial of a held customer says nothing. */
const COUNTS = `${CONFIRMED} AND NOT (f.kind = 'trial-ended' AND ${HELD})`

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
