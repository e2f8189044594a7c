// The statements of the workers' rounds: one row of `drift_run` for each time around.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { disbelieve } from './believed.ts'
import type { Counting, Suspected } from './counting.ts'
import { doubtOf } from './doubt.ts'
import { EMPTY_TALLY } from './tally.ts'
import type { Round, Stretch } from './window.ts'
import type { Doubt, DriftVerdict } from './words.ts'

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
  coalesce((cursor->>'taken')::int, 0) AS taken, cursor->>'after' AS after, coalesce(cursor->'before', '{}') AS before, tally`

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

export async function keepRound(client: Client, round: StoredRound): Promise<void> {
  const { id, pass, taken, after, before, ended, tally } = round
  const outcome = outcomeOf(round)
  await client.query(
    `UPDATE rollcall.drift_run SET cursor = $2, tally = $3, updated_at = clock_timestamp(),
       ended_at = CASE WHEN $4 THEN clock_timestamp() END, outcome = $5
     WHERE id = $1`,
    [id, JSON.stringify({ pass, taken, after, before }), JSON.stringify(tally), ended, outcome],
  )
  if (outcome === 'not-credible') await disbelieve(client, id)
}

/** Of a round that may have ended meanwhile: its last looks can be the ones that tell what to believe. */
export async function keepTally(client: Client, round: StoredRound): Promise<void> {
  const outcome = outcomeOf(round)
  await client.query('UPDATE rollcall.drift_run SET tally = $2, outcome = $3 WHERE id = $1', [
    round.id,
    JSON.stringify(round.tally),
    outcome,
  ])
  if (outcome === 'not-credible') await disbelieve(client, round.id)
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

const SUSPECTED = `
SELECT f.key, CASE WHEN (f.doubted->>'in')::bigint = $2 THEN f.doubted->'as' END AS counted
FROM rollcall.finding f WHERE f.key = ANY($1) AND f.resolved_at IS NULL AND f.looks < 2 AND f.run_id = $2`

/**
 * Of these the ones that this round suspects to differ; and as what it has counted them before, where answers that nobody
 * believed had shown it twice. What a run suspects counts in the round when their turn comes, as with everybody else.
 */
export async function suspectedAmong(
  client: Client,
  keys: readonly CustomerKey[],
  { id }: Pick<StoredRound, 'id'>,
): Promise<Suspected> {
  const { rows } = await client.query<{ key: CustomerKey; counted: DriftVerdict | null }>(SUSPECTED, [
    keys,
    id,
  ])
  return new Map(rows.map(({ key, counted }) => [key, counted]))
}

/** Of a ledger in which hardly anybody is left to look at, no more than this is read at once. */
const PAGE = 10_000

const NEXT = `
SELECT key FROM (
  SELECT l.key, ${VERIFIABLE} AND ($4 OR coalesce(${SEEN_AT} < to_timestamp($2::float8 / 1000), true)) AS open
  FROM rollcall.ledger l WHERE $1::text IS NULL OR l.key > $1 ORDER BY l.key LIMIT ${PAGE}) page
WHERE open ORDER BY key LIMIT $3`

const END_OF_PAGE = `
SELECT key FROM rollcall.ledger WHERE $1::text IS NULL OR key > $1 ORDER BY key OFFSET ${PAGE - 1} LIMIT 1`

/**
 * The next ones in the order of their keys: everybody once, and then whom no look has been at since the round began. Were
 * those left out the first time whom a run has looked at, a round would count, and repair, next to nobody but those who
 * differ, and of a report every day nothing would ever be repaired.
 */
export async function nextOfRound(
  client: Client,
  { after, startedAt, pass }: Pick<Round, 'after' | 'startedAt' | 'pass'>,
  count: number,
): Promise<Stretch> {
  const found = await client.query<{ key: CustomerKey }>(NEXT, [after, startedAt, count, pass === 1])
  const keys = found.rows.map(({ key }) => key)
  const last = keys.at(-1)
  if (keys.length >= count && last !== undefined) return { keys, upTo: last }
  const { rows } = await client.query<{ key: CustomerKey }>(END_OF_PAGE, [after])
  return { keys, upTo: rows[0]?.key ?? null }
}
