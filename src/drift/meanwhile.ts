// What others have found while a run goes on: workers verify too, and may have put it right before the run comes to it.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { CONFIRMED } from './verifiable.ts'
import type { DriftVerdict } from './words.ts'

export type Met = { readonly findingId: string; readonly verdict: DriftVerdict }

/**
 * A look has shown it since then, or it was found before and rollcall has written what it should be since then: until that
 * was acknowledged it differed. What turned out to be the service's own form was no difference, and a trial that ended is none.
 */
const DIFFERED = `${CONFIRMED} AND (f.resolved_at IS NULL OR f.resolved_at >= $2::timestamptz)
  AND f.kind <> 'trial-ended' AND f.resolved_how IS DISTINCT FROM 'normalised'
  AND (f.last_seen >= $2::timestamptz
    OR l.acknowledged_at >= greatest(f.repaired_at, $2::timestamptz) AND f.repaired_at IS NOT NULL
      AND coalesce(f.resolved_how = 'repaired', true))`

const MET = `
SELECT DISTINCT ON (f.key) f.key, f.id::text AS "findingId",
  jsonb_build_object('kind', f.kind, 'fields', f.fields, 'cause', f.cause, 'access', f.access) AS verdict
FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
WHERE f.key = ANY($1) AND ${DIFFERED}
ORDER BY f.key, f.id DESC`

/** Of these customers, those who have differed since then (ISO 8601) by what others have found, and how. */
export async function metSince(
  client: Pick<ClientBase, 'query'>,
  keys: readonly CustomerKey[],
  since: string,
): Promise<ReadonlyMap<CustomerKey, Met>> {
  if (keys.length === 0) return new Map()
  const { rows } = await client.query<Met & { key: CustomerKey }>(MET, [keys, since])
  return new Map(rows.map(({ key, ...met }) => [key, met]))
}

const LATER = `
SELECT count(DISTINCT f.key)::float8 AS count FROM rollcall.finding f
WHERE ${CONFIRMED} AND f.last_seen >= $2::timestamptz AND (f.resolved_at IS NULL OR f.resolved_at >= $2::timestamptz)
  AND f.kind <> 'trial-ended' AND f.resolved_how IS DISTINCT FROM 'normalised'
  AND NOT EXISTS (SELECT FROM rollcall.finding o WHERE o.id = ANY($1::bigint[]) AND o.key = f.key)`

/** Customers who have differed since then beside those of these findings: a run had looked at them before they did. */
export async function countFoundLater(
  client: Pick<ClientBase, 'query'>,
  found: readonly string[],
  since: string,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(LATER, [found, since])
  return rows[0]?.count ?? 0
}
