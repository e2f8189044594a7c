// For a worker that was away for weeks: the outbox then holds the same keys many times over. One row of each
// is enough, because a note says only that a customer must be looked at.
import type { ClientBase } from 'pg'

/**
 * A step looks at the keys of one slice, locks the rows of those that occur more than once and leaves one of
 * each, with the most urgent lane and the earliest time of all that went.
 *
 * Safe beside writers, drains and other collapses, because it counts only rows that it has locked itself: a
 * row that a drain is taking is skipped, so a key never loses its last row to somebody whose transaction is
 * then rolled back; and nobody waits. What comes in meanwhile is above `$3` or belongs to the next run.
 */
const STEP = `
WITH often AS MATERIALIZED (
  SELECT key FROM rollcall.outbox
  WHERE abs(hashtext(key)::bigint) % $1 = $2 AND id <= $3::bigint GROUP BY key HAVING count(*) > 1),
mine AS MATERIALIZED (
  SELECT o.id, o.key, o.lane, o.at FROM rollcall.outbox o JOIN often USING (key)
  WHERE o.id <= $3::bigint FOR UPDATE OF o SKIP LOCKED),
kept AS MATERIALIZED (
  SELECT key, min(id) AS id, min(lane) AS lane, min(at) AS at FROM mine GROUP BY key HAVING count(*) > 1),
gone AS (
  DELETE FROM rollcall.outbox o USING mine JOIN kept USING (key)
  WHERE o.id = mine.id AND mine.id <> kept.id RETURNING 1),
raised AS (
  UPDATE rollcall.outbox o SET lane = kept.lane, at = kept.at FROM kept
  WHERE o.id = kept.id AND (o.lane, o.at) <> (kept.lane, kept.at))
SELECT count(*)::int AS gone FROM gone`

/** The outbox is read once for each step; its bound (capture.outboxLimitMb) keeps that affordable. */
const ROWS_PER_STEP = 100_000

/**
 * Resolves to the number of rows deleted. Afterwards the freed pages are given back, so that the outbox is
 * below its bound again and capture resumes; without the right to VACUUM, autovacuum does that a little later.
 * `client` is not in a transaction; every step commits by itself.
 */
export async function collapseOutbox(
  client: Pick<ClientBase, 'query'>,
  rowsPerStep = ROWS_PER_STEP,
): Promise<number> {
  const { rows } = await client.query<{ highest: string | null; rows: number }>(
    'SELECT max(id)::text AS highest, count(*)::int AS rows FROM rollcall.outbox',
  )
  const { highest = null, rows: total = 0 } = rows[0] ?? {}
  if (highest === null) return 0
  const slices = Math.max(1, Math.ceil(total / rowsPerStep))
  let deleted = 0
  for (let slice = 0; slice < slices; slice += 1) {
    const step = await client.query<{ gone: number }>(STEP, [slices, slice, highest])
    deleted += step.rows[0]?.gone ?? 0
  }
  if (deleted > 0) await client.query('VACUUM rollcall.outbox')
  return deleted
}
