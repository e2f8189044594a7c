// Marks: what capture could not express as keys. A mark is open until a resync is asked for (`resolved_at`), and
// customers may differ without being owed until that has gone through (`resynced_at`).
//
// A trigger writes no second overflow mark while it sees an open one. So a resync starts only when every transaction
// that was running when the mark was closed has ended: pg_snapshot_xmin of a new snapshot has reached pg_snapshot_xmax
// of one taken after the commit. An earlier one would miss the changes of a transaction that trusted the mark.
import { type Client, oneRow } from '../database/client.ts'
import { iso } from '../database/sql.ts'

type MarkKind = 'truncate' | 'overflow'

export type CaptureMark = {
  readonly id: string
  readonly kind: MarkKind
  readonly relation: string
  readonly since: string
}

export async function openMarks(client: Client): Promise<readonly CaptureMark[]> {
  const { rows } = await client.query<CaptureMark>(
    `SELECT m.id::text AS id, kind, relation, ${iso('at')} AS since
     FROM rollcall.capture_mark m WHERE resolved_at IS NULL ORDER BY m.id`,
  )
  return rows
}

/** Something may have changed that was captured as a mark alone, and not all customers were checked since. */
export async function marksArePending(client: Client): Promise<boolean> {
  const pending = 'SELECT EXISTS (SELECT FROM rollcall.capture_mark WHERE resynced_at IS NULL) AS pending'
  return (await oneRow<{ pending: boolean }>(client, pending)).pending
}

/** Asks for a resync. Two statements: the second has a later snapshot than the first one's commit. */
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

export async function endGap(client: Client, { ids }: Pick<Gap, 'ids'>): Promise<void> {
  const end = 'UPDATE rollcall.capture_mark SET resynced_at = now() WHERE id = ANY($1::bigint[])'
  await client.query(end, [ids])
}

/** A person has checked what was truncated: no resync is made for it, begun or not. A gap cannot be dismissed. */
export async function dismissMarks(client: Client): Promise<void> {
  await client.query(
    `UPDATE rollcall.capture_mark SET resolved_at = now(), resync_after = NULL, resynced_at = now()
     WHERE resynced_at IS NULL AND kind = 'truncate'`,
  )
}
