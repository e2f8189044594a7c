import type { ClientBase } from 'pg'

/** What capture could not express as keys. Until it is resolved, customers may differ without being owed. */
export type CaptureMark = {
  readonly id: string
  readonly kind: 'truncate' | 'overflow'
  /** The watched relation, `schema.name`. */
  readonly relation: string
  /** Since when; ISO 8601 in UTC. */
  readonly since: string
}

/**
 * Marks to be resolved, oldest first.
 *
 * A trigger writes no second overflow mark while it sees an open one. So whoever resolves a mark first sets
 * `resolved_at` and commits, and starts the resync only when every transaction that was running at that moment
 * has ended (pg_snapshot_xmin of a new snapshot has reached pg_snapshot_xmax of one taken after the commit).
 * A resync that starts earlier misses the changes of a transaction that trusted the mark and commits later.
 */
export async function openMarks(client: Pick<ClientBase, 'query'>): Promise<readonly CaptureMark[]> {
  const { rows } = await client.query<CaptureMark>(
    `SELECT m.id::text AS id, kind, relation,
       to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
     FROM rollcall.capture_mark m WHERE resolved_at IS NULL ORDER BY m.id`,
  )
  return rows
}
