import type { Client } from '../database/client.ts'
import { iso } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'

/** One acknowledged call that cleared personal fields of a customer whose row is gone. Names of fields, never a value. */
export type Receipt = {
  readonly key: CustomerKey
  readonly userId: string
  readonly fields: readonly string[]
  /** When the service acknowledged it, as ISO text in UTC. */
  readonly erasedAt: string
  /** When a credible lookup was made after it; null: not yet, or never. */
  readonly verifiedAt: string | null
  /** Fields that the lookup still showed; null without one. */
  readonly left: readonly string[] | null
  /** Not verified, and not asked for any more: the row has come back since, or another erasure followed. */
  readonly past: boolean
}

const RECEIPTS = `
SELECT x.key, x.user_id AS "userId", to_jsonb(x.fields) AS fields, ${iso('x.erased_at')} AS "erasedAt",
  ${iso('x.verified_at')} AS "verifiedAt", to_jsonb(x.left_fields) AS "left",
  x.verified_at IS NULL AND (l.erased IS DISTINCT FROM 'sent'
    OR x.id < (SELECT max(id) FROM rollcall.erasure WHERE key = x.key)) AS past
FROM rollcall.erasure x LEFT JOIN rollcall.ledger l USING (key)
WHERE $1::text[] IS NULL OR x.key = ANY($1)
ORDER BY x.id DESC LIMIT $2`

type Asked = {
  readonly keys: readonly CustomerKey[]
  readonly limit: number
}

/** The last receipts, of these customers or of all. Reads only. */
export async function readErasures(client: Client, { keys, limit }: Asked): Promise<readonly Receipt[]> {
  return (await client.query<Receipt>(RECEIPTS, [keys.length > 0 ? keys : null, limit])).rows
}
