import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'

/**
 * After an outcome that was unknown, a request may arrive later than any process waits for it. So the user is looked at
 * twice more: a minute after the look that cleared it up, and ten minutes after that.
 */
export const VERIFICATIONS = 2

/** How long after a look or a write the first verification is due. */
export const VERIFY_FIRST = `interval '1 minute'`

/** How long after the present look the next one is due; in the terms of the statement that counts them down. */
export const VERIFY_AFTER = `CASE o.verify_left WHEN ${VERIFICATIONS} THEN ${VERIFY_FIRST} ELSE interval '10 minutes' END`

const VERIFY_NOW = `
WITH asked AS MATERIALIZED (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)
UPDATE rollcall.owed o SET verify_at = now(), verify_left = greatest(o.verify_left, 1) FROM asked WHERE o.key = asked.key`

/** These are looked at as soon as nothing is under way for them. */
export async function verifyNow(client: Client, keys: readonly CustomerKey[]): Promise<void> {
  await client.query(VERIFY_NOW, [keys])
}
