// The statements of the workers' rounds: one row of `drift_run` for each time around.
import type { ClientBase, Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { atOnce, disbelieve } from './believed.ts'
import type { Counting, Marks, Noted, Notes } from './counting.ts'
import { doubtOf } from './doubt.ts'
import { EMPTY_TALLY } from './tally.ts'
import type { Round, Stretch } from './window.ts'
import type { Doubt } from './words.ts'

type Client = Pick<ClientBase, 'query'>

export type StoredRound = Round & Counting & { readonly id: string }

/**
 * Of the ledger (`l`): whom a look can say something about. Who was never registered has no user of ours; who is
 * rejected, held or discarded differs for a reason that is known.
 */
export const VERIFIABLE = `l.remote <> 'unasked' AND l.state IN ('idle', 'failing')`

/**
 * When a GET with a clear answer was made last; also those of syncs, as far as they agreed. One of the future was before
 * the clock was set back, nobody knows when.
 */
export const SEEN_AT = `greatest(CASE WHEN l.looked_at <= clock_timestamp() THEN l.looked_at END,
  CASE WHEN l.verified_at <= clock_timestamp() THEN l.verified_at END)`

const STARTED = '(extract(epoch FROM started_at) * 1000)::float8'

const COLUMNS = `r.id::text AS id, ${STARTED} AS "startedAt", ended_at IS NOT NULL AS ended,
  coalesce(population, 0)::float8 AS population, coalesce((cursor->>'pass')::int, 1) AS pass,
  coalesce((cursor->>'taken')::int, 0) AS taken, cursor->>'after' AS after, coalesce(cursor->'before', '{}') AS before,
  coalesce((cursor->>'doubted')::boolean, false) AS doubted, tally`

export async function readRound(client: Client): Promise<StoredRound | null> {
  const { rows } = await client.query<StoredRound>(
    `SELECT ${COLUMNS} FROM rollcall.drift_run r WHERE r.kind = 'round' ORDER BY r.id DESC LIMIT 1`,
  )
  const [row] = rows
  return row ? { ...row, tally: { ...EMPTY_TALLY, ...row.tally } } : null
}

const POPULATION = `(SELECT count(*) FROM rollcall.ledger l WHERE ${VERIFIABLE})`

/** One that is still open ends: there is one at a time. */
export async function beginRound(client: Client): Promise<void> {
  await client.query(
    `WITH ended AS (
       UPDATE rollcall.drift_run SET ended_at = clock_timestamp(), outcome = coalesce(outcome, 'stopped')
       WHERE kind = 'round' AND ended_at IS NULL RETURNING id)
     INSERT INTO rollcall.drift_run (kind, population)
     SELECT 'round', ${POPULATION} WHERE (SELECT count(*) FROM ended) >= 0`,
  )
}

/** Customers come and go while it goes on. */
export async function recount(client: Client, id: string): Promise<void> {
  await client.query(`UPDATE rollcall.drift_run SET population = ${POPULATION} WHERE id = $1`, [id])
}

/**
 * What a service said that suddenly knows nobody is no part of a trend, and nothing that it has shown is told: from the
 * statement on that says so, whether the round goes on or has ended.
 */
function outcomeOf({
  tally,
  ended,
}: Pick<StoredRound, 'tally' | 'ended'>): 'complete' | 'not-credible' | null {
  if (doubtOf(tally) !== null) return 'not-credible'
  return ended ? 'complete' : null
}

const KEEP_TALLY = `
UPDATE rollcall.drift_run SET tally = $2, outcome = $3,
  cursor = coalesce(cursor, '{}') || jsonb_build_object('doubted', $4::boolean)
WHERE id = $1`
const KEEP_ROUND = `
UPDATE rollcall.drift_run SET tally = $2, outcome = $3, cursor = $4, updated_at = clock_timestamp(),
  ended_at = CASE WHEN $5 THEN clock_timestamp() END
WHERE id = $1`

const MARK = `
WITH locked AS MATERIALIZED (
  SELECT l.key, c.key IS NOT NULL AS counts, c."as" FROM rollcall.ledger l
  LEFT JOIN jsonb_to_recordset($3::jsonb) AS c (key text, "as" jsonb) ON c.key COLLATE "C" = l.key
  WHERE l.key = ANY($1) ORDER BY l.key FOR NO KEY UPDATE OF l)
UPDATE rollcall.ledger l SET taken_in = $2, counted_in = CASE WHEN counts THEN $2 ELSE l.counted_in END,
  counted_as = CASE WHEN counts THEN locked."as" ELSE l.counted_as END
FROM locked WHERE l.key = locked.key`

type Marked = StoredRound & { readonly marks: Marks }

/** What looks at their turn have made of a round; in one go with whom it has taken, so that a crash counts nobody twice. */
export async function keepRound(pool: Pool, round: Marked): Promise<void> {
  const { pass, taken, after, before, doubted, ended } = round
  await keep(pool, round, KEEP_ROUND, [JSON.stringify({ pass, taken, after, before, doubted }), ended])
}

/** Of a round that may have ended meanwhile: its last looks can be the ones that tell what to believe. */
export async function keepTally(pool: Pool, round: Marked): Promise<void> {
  await keep(pool, round, KEEP_TALLY, [round.doubted])
}

async function keep(
  pool: Pool,
  { marks, ...round }: Marked,
  statement: string,
  more: readonly unknown[],
): Promise<void> {
  const outcome = outcomeOf(round)
  const says = async (client: Client) => {
    await client.query(statement, [round.id, JSON.stringify(round.tally), outcome, ...more])
    if (marks.taken.length > 0)
      await client.query(MARK, [marks.taken, round.id, JSON.stringify(marks.counted)])
  }
  if (outcome === 'not-credible') await disbelieve(pool, round.id, says)
  else await atOnce(pool, says)
}

const STANDS = `
SELECT r.ended_at IS NULL OR EXISTS (SELECT FROM rollcall.finding f WHERE f.run_id = r.id AND f.resolved_at IS NULL)
  AS stands FROM rollcall.drift_run r WHERE r.id = $1`

/**
 * Why what the service answers to the workers cannot be believed; null: it can be. As long as a round goes on that says
 * so, and then until all that it has found has ended.
 */
export async function readDoubt(client: Client): Promise<Doubt | null> {
  const round = await readRound(client)
  const doubt = round && doubtOf(round.tally)
  if (!round || doubt === null) return null
  const { rows } = await client.query<{ stands: boolean }>(STANDS, [round.id])
  return rows[0]?.stands ? doubt : null
}

const NOTED = `
SELECT key, counted, CASE WHEN counted THEN counted_as END AS "as"
FROM (SELECT key, counted_as, coalesce(counted_in = $2, false) AS counted
  FROM rollcall.ledger WHERE key = ANY($1) AND taken_in = $2) l`

/** What a round has made of these so far, of those whom it has taken. */
export async function notedIn(
  client: Client,
  { id }: Pick<StoredRound, 'id'>,
  keys: readonly CustomerKey[],
): Promise<Notes> {
  const { rows } = await client.query<Noted & { key: CustomerKey }>(NOTED, [keys, id])
  return new Map(rows.map(({ key, ...noted }) => [key, noted]))
}

/** Of a ledger in which hardly anybody is left to look at, no more than this is read at once. */
const PAGE = 10_000

const NEXT = `
SELECT key FROM (
  SELECT l.key, ${VERIFIABLE} AND ($4 OR l.counted_in IS DISTINCT FROM $2::bigint OR $5 AND l.counted_as IS NOT NULL) AS open
  FROM rollcall.ledger l WHERE $1::text IS NULL OR l.key > $1 ORDER BY l.key LIMIT ${PAGE}) page
WHERE open ORDER BY key LIMIT $3`

/** Never before the last one who was found: others may have come into the page since. */
const END_OF_PAGE = `
SELECT greatest(key, $2) AS key FROM rollcall.ledger WHERE $1::text IS NULL OR key > $1 ORDER BY key OFFSET ${PAGE - 1} LIMIT 1`

/**
 * The next ones in the order of their keys: everybody once, and then whom the round has not counted, or as drift by
 * answers that were not believed. Were those left out the first time whom a run has looked at, a round would count, and
 * repair, next to nobody but those who differ, and of a report every day nothing would ever be repaired.
 */
export async function nextOfRound(
  client: Client,
  { id, after, pass, doubted }: Pick<StoredRound, 'id' | 'after' | 'pass' | 'doubted'>,
  count: number,
): Promise<Stretch> {
  const asked = [after, id, count, pass === 1, doubted]
  const found = await client.query<{ key: CustomerKey }>(NEXT, asked)
  const keys = found.rows.map(({ key }) => key)
  const last = keys.at(-1)
  if (keys.length >= count && last !== undefined) return { keys, upTo: last }
  const { rows } = await client.query<{ key: CustomerKey }>(END_OF_PAGE, [after, last])
  return { keys, upTo: rows[0]?.key ?? null }
}
