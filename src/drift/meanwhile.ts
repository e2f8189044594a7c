// What others have found while a run goes on: workers verify too, and may have put it right before the run comes to it.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import type { DriftVerdict } from './words.ts'

export type Met = { readonly findingId: string; readonly verdict: DriftVerdict }

/** What turned out to be the service's own form was no difference. */
const MET = `
SELECT DISTINCT ON (f.key) f.key, f.id::text AS "findingId",
  jsonb_build_object('kind', f.kind, 'fields', f.fields, 'cause', f.cause, 'access', f.access) AS verdict
FROM rollcall.finding f
WHERE f.key = ANY($1) AND f.looks >= 2 AND f.last_seen >= $2::timestamptz
  AND (f.resolved_at IS NULL OR f.resolved_at >= $2::timestamptz) AND f.resolved_how IS DISTINCT FROM 'normalised'
ORDER BY f.key, f.id DESC`

/** Of these customers, those whose difference a second look has shown since then (ISO 8601), and how it was. */
export async function metSince(
  client: Pick<ClientBase, 'query'>,
  keys: readonly CustomerKey[],
  since: string,
): Promise<ReadonlyMap<CustomerKey, Met>> {
  if (keys.length === 0) return new Map()
  const { rows } = await client.query<Met & { key: CustomerKey }>(MET, [keys, since])
  return new Map(rows.map(({ key, ...met }) => [key, met]))
}
