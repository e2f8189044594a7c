// Whether a finding is told: as SQL, for all that read findings; and what becomes of it once it is not believed.
import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '../brake/transaction.ts'
import { retried, UNIQUE_VIOLATION } from '../ledger/batch.ts'

/**
 * What drift_run.outcome says while a run or a round cannot be believed: a run before it has ended, since only all of it
 * tells, and whatever shows that the service is to be doubted.
 */
const NOT_BELIEVED = `('unjudged', 'not-credible')`

/**
 * Of a finding (`f`): the run or round whose it is can be believed. It goes by the row of the run or round, and nothing is
 * written when that changes: so it holds from the statement on that judges it, and whatever dies before leaves nobody
 * accused.
 */
export const BELIEVED = `NOT EXISTS (SELECT FROM rollcall.drift_run b WHERE b.id = f.run_id AND b.outcome IN ${NOT_BELIEVED})`

const LATER = `now() + interval '10 minutes'`

/**
 * What the run or round of that id has shown that cannot be believed is a suspicion again, also once other answers are
 * believed: it has to be shown twice by those. Workers look before long.
 */
const SUSPECT_AGAIN = `
WITH shown AS MATERIALIZED (
  SELECT id FROM rollcall.finding WHERE run_id = $1 AND resolved_at IS NULL AND looks >= 1 ORDER BY key FOR UPDATE)
UPDATE rollcall.finding f SET looks = 0, pending = '{}', released = false, next_look_at = ${LATER}
FROM shown WHERE f.id = shown.id`

/** What it has seen the end of, the latest of each customer; what a person or the customer itself has ended stays so. */
const ENDED = `
ended AS MATERIALIZED (
  SELECT DISTINCT ON (key) id, key FROM rollcall.finding
  WHERE resolved_in = $1 AND resolved_how IN ('by-itself', 'otherwise', 'repaired', 'by-a-change') ORDER BY key, id DESC)`

const DROP_WHAT_REPLACED = `
WITH ${ENDED}
DELETE FROM rollcall.finding f USING ended WHERE f.key = ended.key AND f.resolved_at IS NULL AND f.run_id = $1`

const REOPEN = `
WITH ${ENDED}
UPDATE rollcall.finding f SET resolved_at = NULL, resolved_how = NULL, resolved_in = NULL, next_look_at = ${LATER}
FROM ended WHERE f.id = ended.id
  AND NOT EXISTS (SELECT FROM rollcall.finding o WHERE o.key = f.key AND o.resolved_at IS NULL)`

type Client = Pick<ClientBase, 'query'>

/** Workers hold findings for a moment only; and the report of hours is not given up for less. */
const LOCK_MS = 30_000

/**
 * Says of the run or round of that id, by that statement, that nobody believes what it has shown: neither what differs, nor
 * what differs no more. All of it or nothing: who has ended is judged once, and nobody would come back to it.
 */
export async function disbelieve(
  pool: Pool,
  id: string,
  say: (client: Client) => Promise<unknown>,
): Promise<void> {
  await atOnce(pool, async (client) => {
    await say(client)
    await client.query(SUSPECT_AGAIN, [id])
    await reopen(client, id)
  })
}

/** Once more where a worker is at the same customers. */
export async function atOnce<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  return await retried(() => inTransaction(pool, LOCK_MS, work), [UNIQUE_VIOLATION])
}

/** What others have told stays told, also where a run of that id that was never judged has seen its end. */
export async function reopen(client: Client, id: string): Promise<void> {
  await client.query(DROP_WHAT_REPLACED, [id])
  await client.query(REOPEN, [id])
}

/** Of a finding (`f`): shown twice, and by somebody who can be believed. */
export const CONFIRMED = `f.looks >= 2 AND ${BELIEVED}`

/** Of a finding (`f`): that, and open. */
export const TOLD = `${CONFIRMED} AND f.resolved_at IS NULL`

/**
 * Whose a finding (`f`) is once the run or round of that parameter has shown it. What is told stays with whoever has told
 * it: else all of that would be gone where the other one is not judged yet, or is doubted later.
 */
export const ownerAfter = (parameter: string) =>
  `CASE WHEN ${CONFIRMED} THEN f.run_id ELSE ${parameter}::bigint END`

/** What a run has shown that is believed to its end is its own, whoever has told it before. */
export const TAKE_OVER = `
WITH shown AS MATERIALIZED (
  SELECT id FROM rollcall.finding WHERE id = ANY($2::bigint[]) AND resolved_at IS NULL AND looks >= 2 ORDER BY key FOR UPDATE)
UPDATE rollcall.finding f SET run_id = $1 FROM shown WHERE f.id = shown.id`
