import type { ClientBase } from 'pg'

type Client = Pick<ClientBase, 'query'>
type MarkKind = 'truncate' | 'overflow'

/**
 * Closes open marks so that everybody is looked at again. A trigger that saw the open mark wrote none of its
 * own, so the look must wait for every transaction that was running when the mark was closed: the second
 * statement is a later snapshot than the first one's commit, and what it cannot see as ended has to end.
 */
export async function closeMarks(client: Client, kinds: readonly MarkKind[]): Promise<void> {
  await client.query(
    'UPDATE rollcall.capture_mark SET resolved_at = now() WHERE resolved_at IS NULL AND kind = ANY($1)',
    [kinds],
  )
  await client.query(
    `UPDATE rollcall.capture_mark SET resync_after = pg_snapshot_xmax(pg_current_snapshot())::text
     WHERE resolved_at IS NOT NULL AND resync_after IS NULL AND resynced_at IS NULL`,
  )
}

export type Gap = { readonly ids: readonly string[]; readonly ready: boolean }

/** Closed marks whose resync is still to be done, and whether it may start. */
export async function readGap(client: Client): Promise<Gap> {
  const { rows } = await client.query<{ id: string; ready: boolean }>(
    `SELECT m.id::text AS id, resync_after::xid8 <= pg_snapshot_xmin(pg_current_snapshot()) AS ready
     FROM rollcall.capture_mark m WHERE resync_after IS NOT NULL AND resynced_at IS NULL ORDER BY m.id`,
  )
  return { ids: rows.map(({ id }) => id), ready: rows.every(({ ready }) => ready) }
}

/** Something has changed, or may have, that was captured as a mark alone, and not everybody was looked at since. */
export async function marksArePending(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pending: boolean }>(
    'SELECT EXISTS (SELECT FROM rollcall.capture_mark WHERE resynced_at IS NULL) AS pending',
  )
  return rows[0]?.pending === true
}

export async function endGap(client: Client, { ids }: Pick<Gap, 'ids'>): Promise<void> {
  await client.query('UPDATE rollcall.capture_mark SET resynced_at = now() WHERE id = ANY($1::bigint[])', [
    ids,
  ])
}

/** A person has looked at what was truncated: nobody is looked at for it. A gap cannot be dismissed. */
export async function dismissMarks(client: Client): Promise<void> {
  await client.query(
    `UPDATE rollcall.capture_mark SET resolved_at = now(), resynced_at = now()
     WHERE resolved_at IS NULL AND kind = 'truncate'`,
  )
}
