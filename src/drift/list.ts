// Findings: those whose next look is due, how many are open, and the old ones that go.
import type { ClientBase, Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { TOLD } from './verifiable.ts'
import type { DriftKind, WrongAccess } from './words.ts'

type Client = Pick<ClientBase, 'query'>

/** Nobody asks about who is rejected or discarded: what was found of them ends here, without a call. */
const DUE = `
SELECT key FROM (
  SELECT f.key, f.next_look_at FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
  WHERE f.resolved_at IS NULL AND f.next_look_at <= now() AND l.state IS DISTINCT FROM 'held'
  UNION ALL
  SELECT f.key, NULL FROM rollcall.ledger l JOIN rollcall.finding f USING (key)
  WHERE f.resolved_at IS NULL AND f.next_look_at IS NULL AND l.state IN ('rejected', 'discarded')) due
ORDER BY next_look_at LIMIT $1`

/**
 * Customers whose next look is due: second looks, looks after a repair, the end of what is found no more. The longest due
 * first; whoever is held waits for a person.
 */
export async function dueLooks(client: Client, limit: number): Promise<readonly CustomerKey[]> {
  const { rows } = await client.query<{ key: CustomerKey }>(DUE, [limit])
  return rows.map(({ key }) => key)
}

export type OpenCount = {
  readonly kind: DriftKind
  readonly access: WrongAccess | null
  readonly count: number
}

/** How many confirmed findings are open and can be believed, of each kind and each wrong of access that there is. */
export async function countOpen(client: Client): Promise<readonly OpenCount[]> {
  const { rows } = await client.query<OpenCount>(
    `SELECT kind, access, count(*)::float8 AS count FROM rollcall.finding f
     WHERE ${TOLD} GROUP BY kind, access ORDER BY kind, access`,
  )
  return rows
}

const PRUNE = `
DELETE FROM rollcall.finding WHERE id IN (
  SELECT id FROM rollcall.finding WHERE resolved_at < now() - $1 * interval '1 day' LIMIT $2 FOR UPDATE SKIP LOCKED)`

/** Deletes findings that were resolved so long ago, at most `limit` of them; resolves to how many. */
export async function pruneFindings(pool: Pool, keepDays: number, limit: number): Promise<number> {
  const { rowCount } = await pool.query(PRUNE, [keepDays, limit])
  return rowCount ?? 0
}
