// A random part of everybody: so many customers with the smallest hashes under the seed of a run.
import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { type Condition, conditionsSql } from '../customers/condition.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { keySql } from '../customers/key-sql.ts'
import type { CustomerKey } from '../model/customer.ts'

export type Everybody = {
  readonly pool: Pool
  readonly shape: CustomersShape
  /** Customers of whom all of these hold; who has no row is then left out, for nothing holds of it. */
  readonly conditions: readonly Condition[]
  /** Ends at once what takes minutes: counting and drawing. */
  readonly signal: AbortSignal
}

/** `rank` as text: it does not fit a number. */
export type Drawn = { readonly key: CustomerKey; readonly rank: string }

/** Everybody is read once, and of many that takes longer than any other statement of ours. */
const PATIENCE = "SET LOCAL statement_timeout = '15min'"

/**
 * Whoever is drawn comes in the order of the hashes, which is a random one: wherever it ends, those who were looked at
 * until then are a random sample of all, without replacement. The same seed draws the same ones again, so that nothing
 * but the seed has to be kept of a run that goes on later.
 */
export async function draw(everybody: Everybody, seed: string, count: number): Promise<readonly Drawn[]> {
  const { sql, values } = keysOf(everybody)
  const text = `
SELECT key, rank::text AS rank FROM (SELECT key, pg_catalog.hashtextextended(key, $${values.length + 1}::bigint) AS rank
  FROM (${sql}) e) r
ORDER BY r.rank, r.key COLLATE "C" LIMIT $${values.length + 2}`
  return await patiently<Drawn>(everybody, text, [...values, seed, count])
}

/** How many there are: rows, and those who have a record and no row. */
export async function countEverybody(everybody: Everybody): Promise<number> {
  const { sql, values } = keysOf(everybody)
  const rows = await patiently<{ count: number }>(
    everybody,
    `SELECT pg_catalog.count(*)::float8 AS count FROM (${sql}) e`,
    values,
  )
  return rows[0]?.count ?? 0
}

function keysOf({ shape, conditions }: Everybody): {
  readonly sql: string
  readonly values: readonly string[]
} {
  const { from, canonical, present } = keySql(shape)
  const where = [...present, ...conditionsSql(conditions, 1)].join(' AND ')
  const rows = `SELECT ${canonical} COLLATE "C" AS key FROM ${from} WHERE ${where}`
  const values = conditions.flatMap((condition) => condition.values)
  if (conditions.length > 0) return { sql: `SELECT DISTINCT key FROM (${rows}) k`, values }
  return { sql: `${rows} UNION SELECT key FROM rollcall.ledger`, values }
}

/** @throws whatever the signal's reason is, once it has told Postgres to end the statement */
async function patiently<Row extends QueryResultRow>(
  { pool, shape, signal }: Everybody,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  signal.throwIfAborted()
  const client = await pool.connect()
  // If it fails, the transaction goes with the session.
  let broken = true
  let cancel: () => void = () => undefined
  try {
    const pid = await beginPatiently(client, shape.settings)
    signal.throwIfAborted()
    // Cut off alone it would go on in Postgres for minutes, for nobody.
    cancel = () => void pool.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => undefined)
    signal.addEventListener('abort', cancel, { once: true })
    const { rows } = await client.query<Row>(text, [...values])
    await client.query('COMMIT')
    broken = false
    return rows
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', cancel)
    client.release(broken)
  }
}

/** Resolves to the process of Postgres that serves it. */
async function beginPatiently(client: PoolClient, settings: readonly string[]): Promise<number> {
  await client.query(['BEGIN READ ONLY', PATIENCE, ...settings].join('; '))
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}
