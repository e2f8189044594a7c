import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'
import { iso } from './sql.ts'

/** One acknowledged call that cleared personal fields of a customer whose row is gone. Names of fields, never a value. */
export type Receipt = {
  readonly key: CustomerKey
  readonly userId: string
  readonly fields: readonly string[]
  /** When the service acknowledged it, as ISO text in UTC. */
  readonly erasedAt: string
  /** When a look that could be believed was made after it; null: not yet, or never. */
  readonly verifiedAt: string | null
  /** Fields that the look still showed; null without one. */
  readonly left: readonly string[] | null
  /** The row has come back since, or another erasure followed: this one is not asked for any more. */
  readonly past: boolean
}

/** The keys asked about, and whether anything is known of them. */
type Receipts = {
  readonly receipts: readonly Receipt[]
  /** The keys asked for that no table of ours has. */
  readonly unknown: readonly CustomerKey[]
}

const RECEIPTS = `
SELECT x.key, x.user_id AS "userId", to_jsonb(x.fields) AS fields, ${iso('x.erased_at')} AS "erasedAt",
  ${iso('x.verified_at')} AS "verifiedAt", to_jsonb(x.left_fields) AS "left",
  x.verified_at IS NULL AND (l.erased IS DISTINCT FROM 'sent'
    OR x.id < (SELECT max(id) FROM rollcall.erasure WHERE key = x.key)) AS past
FROM rollcall.erasure x LEFT JOIN rollcall.ledger l USING (key)
WHERE $1::text[] IS NULL OR x.key = ANY($1)
ORDER BY x.id DESC LIMIT $2`

const UNKNOWN = `
SELECT k.key FROM unnest($1::text[]) WITH ORDINALITY AS k (key, at)
WHERE NOT EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = k.key COLLATE "C")
  AND NOT EXISTS (SELECT FROM rollcall.owed o WHERE o.key = k.key COLLATE "C" AND o.change_version > 0)
  AND NOT EXISTS (SELECT FROM rollcall.erasure x WHERE x.key = k.key COLLATE "C")
ORDER BY k.at`

type Asked = {
  /** None: all. */
  readonly keys: readonly CustomerKey[]
  readonly limit: number
}

/** The last receipts, of these customers or of all. Reads only. */
export async function readErasures(client: Client, { keys, limit }: Asked): Promise<Receipts> {
  const { rows } = await client.query<Receipt>(RECEIPTS, [keys.length > 0 ? keys : null, limit])
  const missing = await client.query<{ key: CustomerKey }>(UNKNOWN, [keys])
  return { receipts: rows, unknown: missing.rows.map(({ key }) => key) }
}
