import type { Pool } from 'pg'
import { unwatchedTables } from '../capture/catalog.ts'
import type { Config } from '../config/config.ts'
import type { Condition } from '../customers/conditions.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import { makeReading } from '../customers/read.ts'
import type { Position } from '../ledger/runs.ts'
import { fitsIndex } from '../model/customer.ts'
import type { Digester } from '../sync/digest.ts'
import { everyPage } from '../sync/pages.ts'
import { readSnapshots } from '../sync/snapshot.ts'
import { type Judged, judge, type SweepSelection } from './judge.ts'
import { addTo, NOTHING_FOUND, type SweepTally } from './tally.ts'

export type PageResult = {
  readonly judged: readonly Judged[]
  readonly tally: SweepTally
  /** Where the next page begins; null: this was the last one. */
  readonly next: Position | null
}

type SweepOptions = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: Digester
  readonly select: SweepSelection
  /** Nothing is recorded yet, or it may not be read: all customers count as unknown. */
  readonly withoutLedger?: boolean
  /** Ends the sweep between two pages. */
  readonly signal: AbortSignal
  /** Told of each page, which is not behind before it has resolved. False ends the sweep there. */
  readonly onPage?: (looked: PageResult) => Promise<boolean>
  /** Only customers for whom all of these hold; default everybody. */
  readonly conditions?: readonly Condition[]
  /** Where an earlier one stopped, and what it had found. */
  readonly from?: { readonly position: Position | null; readonly tally: SweepTally }
  readonly page?: number
}

export type Swept = { readonly tally: SweepTally; readonly ended: boolean }

const PAGE = 500

/**
 * Plans for all customers as a claim would, without a call and without a write: page by page in the order of the keys,
 * each in statements of its own, so that nothing is held and memory does not grow. Who is in the ledger without a row
 * comes last. What changes behind the sweep's back is captured, and so owed anyway.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { pool, config, select, signal, onPage, from } = options
  const shape = await describeCustomers(pool, config)
  let tally = from?.tally ?? NOTHING_FOUND
  for await (const { next, read } of oneAhead(readPages(options, shape))) {
    if (signal.aborted) return { tally, ended: false }
    const judged = read.map((snapshot) => judge(snapshot, select))
    tally = judged.reduce(addTo, tally)
    if (onPage && !(await onPage({ judged, tally, next }))) return { tally, ended: false }
  }
  return { tally, ended: true }
}

async function* readPages(options: SweepOptions, shape: CustomersShape) {
  const { pool, config, conditions = [], page = PAGE, from, withoutLedger = false } = options
  const readCustomers = makeReading(pool, config, shape)
  const unwatched = () => unwatchedTables(pool, config)
  const paging = { client: pool, shape, limit: page, conditions, withoutLedger }
  for await (const { keys, onlyGone, next } of everyPage(paging, from?.position ?? null)) {
    const fitting = keys.filter(fitsIndex)
    const rows = onlyGone ? (await readCustomers(fitting)).rows : null
    const asked = rows ? fitting.filter((key) => rows.get(key) === null) : fitting
    yield { next, read: await readSnapshots({ ...options, readCustomers, unwatched }, asked) }
  }
}

/**
 * Gives the items of a source while the next one is being fetched, so that Postgres and this process work at the same
 * time; never more than one ahead. An error comes when it is that item's turn. Where the loop is left half way the source
 * has ended before, with the fetch that was under way.
 */
export async function* oneAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = fetched(source)
  try {
    for (;;) {
      const item = await next
      if (item.done) return
      next = fetched(source)
      yield item.value
    }
  } finally {
    await source.return(undefined)
  }
}

function fetched<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T, unknown>> {
  const next = source.next()
  next.catch(() => undefined) // it is heard where it is awaited
  return next
}
