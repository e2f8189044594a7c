// Makes a large outbox smaller: one row of each key is enough.
import { type Client, oneRow } from '../database/client.ts'

/**
 * A step looks at the keys of one slice and locks the rows of keys that occur more than once. It leaves the earliest
 * of each, with the most urgent lane of all that went.
 *
 * Safe beside writers, drains and other collapses, because it counts only rows that it has locked itself: a row that
 * a drain is taking is skipped, so a key never loses its last row to a transaction that is then rolled back;
 * and no writer waits. A row that comes in meanwhile is above `$3` or belongs to the next run.
 */
const STEP = `
WITH often AS MATERIALIZED (
  SELECT key FROM rollcall.outbox
  WHERE abs(hashtext(key)::bigint) % $1 = $2 AND id <= $3::bigint GROUP BY key HAVING count(*) > 1),
mine AS MATERIALIZED (
  SELECT o.id, o.key, o.lane, o.at FROM rollcall.outbox o JOIN often USING (key)
  WHERE o.id <= $3::bigint FOR UPDATE OF o SKIP LOCKED),
kept AS MATERIALIZED (
  SELECT key, (array_agg(id ORDER BY at, id))[1] AS id, min(lane) AS lane FROM mine GROUP BY key HAVING count(*) > 1),
gone AS (
  DELETE FROM rollcall.outbox o USING mine JOIN kept USING (key)
  WHERE (o.id, o.key) = (mine.id, mine.key) AND mine.id <> kept.id RETURNING 1),
raised AS (
  UPDATE rollcall.outbox o SET lane = kept.lane FROM kept
  WHERE (o.id, o.key) = (kept.id, kept.key) AND o.lane <> kept.lane)
SELECT count(*)::int AS gone FROM gone`

/** The outbox is read once for each step; its bound (capture.outboxLimitMb) keeps that affordable. */
const ROWS_PER_STEP = 100_000

/**
 * Resolves to the number of rows deleted. Afterwards the freed pages are given back, so that the outbox is
 * below its bound again and capture resumes; without the right to VACUUM, autovacuum does that a little later.
 * `client` is not in a transaction; every step commits by itself.
 */
export async function collapseOutbox(client: Client, rowsPerStep = ROWS_PER_STEP): Promise<number> {
  const size = 'SELECT max(id)::text AS highest, count(*)::int AS total FROM rollcall.outbox'
  const { highest, total } = await oneRow<{ highest: string | null; total: number }>(client, size)
  if (highest === null) return 0
  const slices = Math.max(1, Math.ceil(total / rowsPerStep))
  let deleted = 0
  for (let slice = 0; slice < slices; slice += 1) {
    deleted += (await oneRow<{ gone: number }>(client, STEP, [slices, slice, highest])).gone
  }
  if (deleted > 0) await client.query('VACUUM rollcall.outbox')
  return deleted
}
