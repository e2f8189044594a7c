// The customers of a run, one after the other, from wherever an earlier process has come to: all, or a random sample.
import type { Pool, QueryConfig, QueryResultRow } from 'pg'
import { type Condition, conditionsSql } from '../customers/conditions.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { keySql } from '../customers/key.ts'
import { withSettings } from '../customers/query.ts'
import type { Reading } from '../customers/read.ts'
import { oneRow } from '../database/client.ts'
import type { Position as Start } from '../ledger/runs.ts'
import { changedSince } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { everyPage } from '../sync/pages.ts'

export type CustomerSource = {
  readonly pool: Pool
  readonly shape: CustomersShape
  /** Customers for which all of these hold; a record without a row is then left out. */
  readonly conditions: readonly Condition[]
  /** Ends at once what takes minutes: counting and drawing. */
  readonly signal: AbortSignal
}

/** The part of a run that is kept to resume it: the place behind the last customer that was taken. */
export type Place =
  | { readonly part: 'drawn'; readonly rank: string | null }
  | { readonly part: 'paged'; readonly from: Start | null }

export type Next = { readonly key: CustomerKey; readonly place: Place }

type Options = CustomerSource & {
  readonly readCustomers: Reading
  readonly seed: string
  /** Null: all customers. */
  readonly sample: number | null
  readonly startedAt: string
  readonly page?: number
}

const PAGE = 1000

export function beginningOf(sample: number | null): Place {
  return sample === null ? { part: 'paged', from: null } : { part: 'drawn', rank: null }
}

export async function* allCustomers(options: Options, from: Place): AsyncGenerator<Next> {
  if (from.part === 'paged') return yield* inOrder(options, from.from)
  for (const { key, rank } of await draw(options, options.seed, options.sample ?? 0))
    if (from.rank === null || BigInt(rank) > BigInt(from.rank)) yield { key, place: { part: 'drawn', rank } }
}

/**
 * Keys change meanwhile. A customer that comes in behind the place is a change, and so is owed and no matter of this run.
 * Nor is one that was deleted since it began, once those without a row are checked: most were taken as a row by then.
 */
async function* inOrder(options: Options, from: Start | null): AsyncGenerator<Next> {
  const { pool, shape, conditions, readCustomers, startedAt, page: limit = PAGE } = options
  const paging = { client: pool, shape, limit, conditions, withoutLedger: false }
  for await (const { keys, cursors, onlyGone } of everyPage(paging, from)) {
    const gone = onlyGone ? await withoutRow(keys) : null
    for (const [key, after] of cursors()) {
      const behind: Start = { part: onlyGone ? 'gone' : 'customers', after }
      if (gone === null || gone.has(key)) yield { key, place: { part: 'paged', from: behind } }
    }
  }

  /** Customers among them that had no row when the run began, and have none now. */
  async function withoutRow(keys: readonly CustomerKey[]): Promise<ReadonlySet<CustomerKey>> {
    const { rows } = await readCustomers(keys)
    const gone = keys.filter((key) => rows.get(key) === null)
    const changed = await changedSince(pool, gone, startedAt)
    return new Set(gone.filter((key) => !changed.has(key)))
  }
}

/**
 * In the order of hashes under the seed, which is a random one: wherever it ends, those checked until then are a random
 * sample without replacement. The same seed draws the same ones again, so that nothing else has to be kept of it. `rank`
 * is text, since it does not fit a number.
 */
export async function draw(source: CustomerSource, seed: string, count: number) {
  const { sql, values } = keysOf(source)
  const text = `
SELECT key, rank::text AS rank FROM (SELECT key, pg_catalog.hashtextextended(key, $${values.length + 1}::bigint) AS rank
  FROM (${sql}) e) r
ORDER BY r.rank, r.key COLLATE "C" LIMIT $${values.length + 2}`
  return await patiently<{ key: CustomerKey; rank: string }>(source, {
    text,
    values: [...values, seed, count],
  })
}

export async function populationOf(source: CustomerSource): Promise<number> {
  const { sql, values } = keysOf(source)
  const text = `SELECT pg_catalog.count(*)::float8 AS count FROM (${sql}) e`
  return (await patiently<{ count: number }>(source, { text, values }))[0]?.count ?? 0
}

function keysOf({ shape, conditions }: CustomerSource) {
  const { from, canonical, present } = keySql(shape)
  const where = [...present, ...conditionsSql(conditions, 1)].join(' AND ')
  const rows = `SELECT ${canonical} COLLATE "C" AS key FROM ${from} WHERE ${where}`
  const values = conditions.flatMap((condition) => condition.values)
  if (conditions.length > 0) return { sql: `SELECT DISTINCT key FROM (${rows}) k`, values }
  return { sql: `${rows} UNION SELECT key FROM rollcall.ledger`, values }
}

/** All customers are read once, and of many that takes longer than any other statement of ours. */
const PATIENCE_MS = 15 * 60_000

/** @throws whatever the signal's reason is, once it has asked Postgres to end the statement */
async function patiently<Row extends QueryResultRow>(source: CustomerSource, statement: QueryConfig) {
  const { pool, shape, signal } = source
  signal.throwIfAborted()
  const settings = [`SET LOCAL statement_timeout = ${PATIENCE_MS}`, ...shape.settings]
  return await withSettings(pool, settings, async (session) => {
    const { pid } = await oneRow<{ pid: number }>(session, 'SELECT pg_backend_pid() AS pid')
    signal.throwIfAborted()
    // A statement whose client is gone would go on in Postgres for minutes.
    const cancel = () => void pool.query('SELECT pg_cancel_backend($1)', [pid]).catch(() => undefined)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const asked = { ...statement, query_timeout: PATIENCE_MS + 15_000 }
      return (await session.query<Row>(asked)).rows
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  })
}
