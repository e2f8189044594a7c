// Customers that wait for a value that another user has.
import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'

export type WaitingCustomer = {
  readonly key: CustomerKey
  readonly fields: readonly string[]
  /** The database's clock, in milliseconds since 1970. */
  readonly nowMs: number
}

/** The worker reads and compares so many rows at most; all other customers wait for their time. */
const MOST_WAITING = 200

/** As a rule no customer waits, and the partial index is empty. */
const WAITING = `
SELECT key, ARRAY(SELECT jsonb_object_keys(conflict->'values')) AS fields,
  (extract(epoch FROM now()) * 1000)::float8 AS "nowMs"
FROM rollcall.ledger WHERE conflict IS NOT NULL AND conflict->'values' ?| $1::text[] LIMIT ${MOST_WAITING}`

/** The customers that wait for a value of one of these fields. */
export async function readWaiting(
  client: Client,
  fields: readonly string[],
): Promise<readonly WaitingCustomer[]> {
  const { rows } = await client.query<WaitingCustomer>(WAITING, [fields])
  return rows
}

/** The clock as it is under the row's lock: a claim that ends now must see that this came after it had begun. */
const WAKE = `
UPDATE rollcall.owed SET replan_at = clock_timestamp()
WHERE key IN (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)`

/** Plans these customers again now, so that they send the values that they wait for. */
export async function wake(client: Client, keys: readonly CustomerKey[]): Promise<void> {
  if (keys.length > 0) await client.query(WAKE, [keys])
}
