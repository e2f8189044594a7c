import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'

/**
 * Fields that writes of unknown outcome carried and that no GET has confirmed since: such a request may arrive later
 * than anybody waits for it.
 */
const UNCLEAR = `
SELECT c.key, to_jsonb(array_agg(DISTINCT f.field)) AS fields
FROM rollcall.call c LEFT JOIN rollcall.ledger l ON l.key = c.key, unnest(c.fields) AS f (field)
WHERE c.key = ANY($1) AND c.method <> 'GET' AND c.meaning IN ('unknown', 'unclear')
  AND (l.verified_at IS NULL OR c.at > l.verified_at)
GROUP BY c.key`

export async function readUnclear(
  client: Pick<ClientBase, 'query'>,
  keys: readonly CustomerKey[],
): Promise<ReadonlyMap<CustomerKey, readonly string[]>> {
  if (keys.length === 0) return new Map()
  const { rows } = await client.query<{ key: CustomerKey; fields: string[] }>(UNCLEAR, [keys])
  return new Map(rows.map(({ key, fields }) => [key, fields]))
}
