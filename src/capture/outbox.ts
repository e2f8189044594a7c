// Deletes the keys that the triggers appended, and notes their customers, in one transaction.
import type { ClientBase, Pool } from 'pg'
import { ms } from '../database/sql.ts'
import { inTransaction } from '../database/transaction.ts'
import { type CustomerKey, type Lane, LONGEST_KEY_BYTES } from '../model/customer.ts'

/**
 * Rows are read by deleting them and never by "id greater than last": an id is given before its transaction
 * commits, so a lower one may appear later. Locked rows are with another process, which deletes them or
 * leaves them for the next drain. The ids are picked once, as an array: in a plain subquery the planner may
 * run LIMIT and SKIP LOCKED again for every row. A key that is too long for any index (model/customer.ts) is not even read:
 * NULL stands for all of these.
 */
const TAKE = `
WITH taken AS (
  DELETE FROM rollcall.outbox WHERE id = ANY (ARRAY(
    SELECT id FROM rollcall.outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING key, lane, at)
SELECT CASE WHEN octet_length(key) <= ${LONGEST_KEY_BYTES} THEN key END AS key,
  min(lane) AS lane, ${ms('min(at)')} AS at, count(*)::int AS rows
FROM taken GROUP BY 1 ORDER BY 1`

type Taken = {
  readonly key: CustomerKey | null
  readonly lane: Lane
  readonly at: number
  readonly rows: number
}

/**
 * Takes up to `limit` rows and hands each key once to `note`, with the most urgent lane and the earliest time. It
 * resolves to the number of rows, so fewer than `limit` means that the outbox was empty but for what is locked. If
 * `note` or the commit fails, the rows are still there.
 */
export async function drainOutbox(pool: Pool, note: NoteChanges, limit: number): Promise<number> {
  return await inTransaction(pool, 0, async (client) => {
    const { rows: taken } = await client.query<Taken>(TAKE, [limit])
    const changes = taken.flatMap(({ key, lane, at }): CapturedChange[] =>
      key === null ? [] : [{ key, lane, at: new Date(at) }],
    )
    if (changes.length > 0) await note(client, changes)
    return taken.reduce((sum, { rows }) => sum + rows, 0)
  })
}

/** A captured change: this customer may need a sync. It holds no data. */
export type CapturedChange = {
  readonly key: CustomerKey
  readonly lane: Lane
  /** When the change was made, for the latency from commit to settled. */
  readonly at: Date
}

/** Stores changes in the transaction of the given client, which deletes them from the outbox: a crash loses none. */
export type NoteChanges = (client: ClientBase, changes: readonly CapturedChange[]) => Promise<void>
