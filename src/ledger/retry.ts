// Customers that are rejected, failing or with fields left out are tried again now.
import type { Pool } from 'pg'
import { retried } from '../database/batch.ts'
import { type Client, keysBy, oneRow } from '../database/client.ts'
import { inTransaction } from '../database/transaction.ts'
import { type CustomerKey, LANE, type Lane } from '../model/customer.ts'
import { SELECTED, type Selector, valuesOf } from './failures.ts'
import { noteNow } from './note-unchanged.ts'

/** How many of them are tried again later, and not now. */
export async function countWaiting(client: Client, selector: Selector): Promise<number> {
  const { customers } = await oneRow<{ customers: number }>(
    client,
    `SELECT count(*)::int AS customers FROM rollcall.ledger l JOIN rollcall.owed o USING (key)
     WHERE o.token IS NULL AND o.due_at > clock_timestamp() AND ${SELECTED[selector.kind]}`,
    valuesOf(selector),
  )
  return customers
}

type Unready = {
  /** A claim of them runs at this moment; what it ends with may put a refused value back. */
  readonly underWay: number
  /** They have to wait: a request of an earlier call may still arrive. */
  readonly waiting: number
}

export type Retried = Unready & {
  readonly customers: number
  /** Asked for, and nothing is known of them. */
  readonly unheardOf: readonly CustomerKey[]
}

const KNOWN = `
SELECT key FROM rollcall.owed WHERE key = ANY($1) AND change_version > 0
UNION SELECT key FROM rollcall.ledger WHERE key = ANY($1) ORDER BY key`

/** Customers who are named go with the live changes; many at once must not hold those up. */
export async function retryKeys(pool: Pool, keys: readonly CustomerKey[]): Promise<Retried> {
  const named = [...new Set(keys)]
  const known = await keysBy(pool, KNOWN, [named])
  const counts = await retried(() => retryPage(pool, known, LANE.change))
  const unheardOf = named.filter((key) => !known.includes(key))
  return { customers: known.length, ...counts, unheardOf }
}

const PAGE = 1000
const PAGE_OF_ALL = (where: string) => `
SELECT l.key FROM rollcall.ledger l WHERE ${where} AND ($3::text IS NULL OR l.key > $3) ORDER BY l.key LIMIT ${PAGE}`

/** Each page in a transaction of its own, so that nothing waits long for a row of it. */
export async function retryAll(pool: Pool, selector: Selector): Promise<Retried> {
  const page = PAGE_OF_ALL(SELECTED[selector.kind])
  let sum: Retried = { customers: 0, underWay: 0, waiting: 0, unheardOf: [] }
  for (let after: CustomerKey | null = null; ; ) {
    const keys: readonly CustomerKey[] = await keysBy(pool, page, [...valuesOf(selector), after])
    const { underWay, waiting } = await retried(() => retryPage(pool, keys, LANE.repair))
    sum = {
      ...sum,
      customers: sum.customers + keys.length,
      underWay: sum.underWay + underWay,
      waiting: sum.waiting + waiting,
    }
    if (keys.length < PAGE) return sum
    after = keys.at(-1) ?? null
  }
}

const FORGET_REFUSED = `
UPDATE rollcall.ledger SET refused = '{}', conflict = NULL
WHERE key = ANY($1) AND (refused <> '{}' OR conflict IS NOT NULL)`
const COUNT = `
SELECT (count(*) FILTER (WHERE call_token IS NOT NULL AND due_at > now()))::int AS "underWay",
  (count(*) FILTER (WHERE token IS NULL AND due_at > now()))::int AS waiting
FROM rollcall.owed WHERE key = ANY($1)`

/** Work rows first and in key order, as in every ending: so the two neither deadlock nor write one record at once. */
async function retryPage(pool: Pool, keys: readonly CustomerKey[], lane: Lane): Promise<Unready> {
  return await inTransaction(pool, 0, async (client) => {
    await noteNow(client, keys, lane)
    await client.query(FORGET_REFUSED, [keys])
    return await oneRow<Unready>(client, COUNT, [keys])
  })
}
