import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'
import { SEARCHED_BYTES } from './sql.ts'

const KNOWN = `
SELECT asked.key FROM unnest($1::text[]) AS asked (key)
WHERE EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = asked.key)
  OR EXISTS (SELECT FROM rollcall.owed o WHERE o.key = asked.key AND o.change_version > 0)
  OR pg_relation_size('rollcall.outbox') <= ${SEARCHED_BYTES} AND EXISTS (
    SELECT FROM rollcall.outbox b WHERE b.key = asked.key)`

/**
 * The keys with a record, with work, or with a captured change that is not noted yet; none where the tables are missing,
 * or are not ours to read.
 */
export async function knownKeysIfAny(
  client: Client,
  keys: readonly CustomerKey[],
): Promise<ReadonlySet<CustomerKey>> {
  if (keys.length === 0) return new Set()
  const readable = await client.query<{ readable: boolean }>(
    `SELECT bool_and(coalesce(has_table_privilege(to_regclass('rollcall.' || name), 'SELECT'), false)) AS readable
     FROM unnest('{ledger,owed,outbox}'::text[]) AS name`,
  )
  if (!readable.rows[0]?.readable) return new Set()
  const { rows } = await client.query<{ key: CustomerKey }>(KNOWN, [keys])
  return new Set(rows.map(({ key }) => key))
}
