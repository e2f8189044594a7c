// Those who are rejected, failing or with fields left out are tried again now.
import type { ClientBase, Pool } from 'pg'
import { type CustomerKey, LANE, type Lane } from '../model/customer.ts'
import { retried } from './batch.ts'
import { noteNow } from './note.ts'
import { type Selector, valuesOf, WHERE } from './selector.ts'

type Client = Pick<ClientBase, 'query'>

/** How many of them are tried again later, and not now. */
export async function countWaiting(client: Client, selector: Selector): Promise<number> {
  const { rows } = await client.query<{ customers: number }>(
    `SELECT count(*)::int AS customers FROM rollcall.ledger l JOIN rollcall.owed o USING (key)
     WHERE o.token IS NULL AND o.due_at > clock_timestamp() AND ${WHERE[selector.kind]}`,
    valuesOf(selector),
  )
  return rows[0]?.customers ?? 0
}

export type Retried = {
  /** How many were noted. */
  readonly customers: number
  /** A claim of them runs at this moment; what it ends with may put a refused value back. */
  readonly underWay: number
  /** They have to wait: a request of an earlier call may still arrive. */
  readonly waiting: number
  /** Asked for, and nothing is known of them. */
  readonly unheardOf: readonly CustomerKey[]
}

const PAGE = 1000
const PAGE_OF_ALL = (where: string) => `
SELECT l.key FROM rollcall.ledger l WHERE ${where} AND ($3::text IS NULL OR l.key > $3) ORDER BY l.key LIMIT ${PAGE}`
const PAGE_OF_KEYS = `
SELECT key FROM (SELECT key FROM rollcall.owed WHERE key = ANY($1) AND change_version > 0
  UNION SELECT key FROM rollcall.ledger WHERE key = ANY($1)) k
WHERE $2::text IS NULL OR key > $2 ORDER BY key LIMIT ${PAGE}`

/** Customers who are named go with the live changes; many at once must not hold those up. */
export async function retryKeys(pool: Pool, keys: readonly CustomerKey[]): Promise<Retried> {
  const asked = [...new Set(keys)]
  const known = new Set<CustomerKey>()
  const page = async (client: Client, after: CustomerKey | null) => {
    const { rows } = await client.query<{ key: CustomerKey }>(PAGE_OF_KEYS, [asked, after])
    for (const { key } of rows) known.add(key)
    return rows.map(({ key }) => key)
  }
  const counted = await retryPages(pool, page, LANE.change)
  return { ...counted, unheardOf: asked.filter((key) => !known.has(key)) }
}

export async function retryAll(pool: Pool, selector: Selector): Promise<Retried> {
  const text = PAGE_OF_ALL(WHERE[selector.kind])
  const page = async (client: Client, after: CustomerKey | null) => {
    const { rows } = await client.query<{ key: CustomerKey }>(text, [...valuesOf(selector), after])
    return rows.map(({ key }) => key)
  }
  return { ...(await retryPages(pool, page, LANE.repair)), unheardOf: [] }
}

type Counts = { readonly underWay: number; readonly waiting: number }
type NextPage = (client: Client, after: CustomerKey | null) => Promise<readonly CustomerKey[]>

/** Each page in a transaction of its own, so that nobody waits long for a row of it. */
async function retryPages(pool: Pool, page: NextPage, lane: Lane): Promise<Omit<Retried, 'unheardOf'>> {
  const sum = { customers: 0, underWay: 0, waiting: 0 }
  let after: CustomerKey | null = null
  for (;;) {
    const { keys, counts } = await retried(() => retryPage(pool, (client) => page(client, after), lane))
    sum.customers += keys.length
    sum.underWay += counts.underWay
    sum.waiting += counts.waiting
    after = keys.at(-1) ?? null
    if (keys.length < PAGE) return sum
  }
}

const FORGET_REFUSED = `
UPDATE rollcall.ledger SET refused = '{}', conflict = NULL
WHERE key = ANY($1) AND (refused <> '{}' OR conflict IS NOT NULL)`
const COUNT = `
SELECT (count(*) FILTER (WHERE call_token IS NOT NULL AND due_at IS NOT NULL))::int AS "underWay",
  (count(*) FILTER (WHERE token IS NULL AND due_at > now()))::int AS waiting
FROM rollcall.owed WHERE key = ANY($1)`

/**
 * The work rows come first and in key order, as in every ending, which holds them while it writes the ledger: so the
 * two neither deadlock nor write one record at the same time.
 */
async function retryPage(pool: Pool, page: (client: Client) => Promise<readonly CustomerKey[]>, lane: Lane) {
  const client = await pool.connect()
  let broken = true
  try {
    await client.query('BEGIN')
    const keys = await page(client)
    await noteNow(client, keys, lane)
    if (keys.length > 0) await client.query(FORGET_REFUSED, [keys])
    const { rows } = await client.query<Counts>(COUNT, [keys])
    await client.query('COMMIT')
    broken = false
    return { keys, counts: rows[0] ?? { underWay: 0, waiting: 0 } }
  } finally {
    // What it holds goes with the connection.
    client.release(broken)
  }
}
