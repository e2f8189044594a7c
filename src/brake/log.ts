import type { ClientBase } from 'pg'
import { iso } from '../ledger/sql.ts'

/** Who decided what about those who were held, when and why. */
export type LoggedDecision = {
  readonly id: string
  readonly action: 'release' | 'discard'
  /** Null: single customers. */
  readonly kind: string | null
  readonly customers: number
  readonly by: string
  readonly why: string
  /** ISO 8601 in UTC. */
  readonly at: string
  /** Released, and not carried out yet. */
  readonly open: number
}

/** The latest first. */
export async function listDecisions(
  client: Pick<ClientBase, 'query'>,
  limit: number,
): Promise<readonly LoggedDecision[]> {
  const { rows } = await client.query<LoggedDecision>(
    `SELECT c.id::text, c.action, c.kind, c.customers, c.by, c.why, ${iso('c.at')} AS at,
       (SELECT count(*)::int FROM rollcall.decided d WHERE d.decision = c.id AND d.spent_at IS NULL) AS open
     FROM rollcall.decision c ORDER BY c.id DESC LIMIT $1`,
    [limit],
  )
  return rows
}
