// Pages through all customers, plans each as a claim would begin with it, and finds the customers that capture has missed.
import { marksArePending } from '../capture/marks.ts'
import { unwatchedTables } from '../capture/status.ts'
import type { Condition } from '../customers/conditions.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import { makeReading } from '../customers/read.ts'
import { type Missed, type Position, truncateWasDismissed } from '../ledger/runs.ts'
import { capturedOf, readWork, type Work } from '../ledger/sweep-work.ts'
import { fitsIndex } from '../model/customer.ts'
import { mapFound } from '../sync/map.ts'
import { everyPage } from '../sync/pages.ts'
import { readSnapshots, type SnapshotReading } from '../sync/snapshot.ts'
import {
  addTo,
  NOTHING_FOUND,
  type PlannedCustomer,
  planCustomer,
  type SweepSelection,
  type SweepTally,
} from './verdict.ts'

export type PageResult = {
  readonly planned: readonly PlannedCustomer[]
  readonly tally: SweepTally
  /** Where the next page begins; null: this was the last one. */
  readonly next: Position | null
}

export type SweepOptions = Omit<SnapshotReading, 'readCustomers' | 'unwatched'> & {
  readonly select: SweepSelection
  /** Ends the sweep between two pages. */
  readonly signal: AbortSignal
  /** Called with each page, which is not behind before it has resolved. False ends the sweep there. */
  readonly onPage?: (page: PageResult) => Promise<boolean>
  /** Only customers for which all of these hold; default: all customers. */
  readonly conditions?: readonly Condition[]
  /** Where an earlier one stopped, and what it had found. */
  readonly from?: { readonly position: Position | null; readonly tally: SweepTally }
  readonly page?: number
}

export type Swept = { readonly tally: SweepTally; readonly ended: boolean }

const PAGE = 500

/**
 * Plans for all customers as a claim would, without a call and without a write: page by page in the order of the
 * keys, each in statements of its own, so that nothing is held and memory does not grow. Ledger customers without a
 * row come last. Changes behind the sweep's position are captured, and so owed anyway.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { pool, config, select, signal, onPage, from } = options
  const shape = await describeCustomers(pool, config)
  let tally = from?.tally ?? NOTHING_FOUND
  for await (const { next, read } of prefetchOne(readPages(options, shape))) {
    if (signal.aborted) return { tally, ended: false }
    const planned = read.map((snapshot) => planCustomer(snapshot, select))
    tally = planned.reduce(addTo, tally)
    if (onPage && !(await onPage({ planned, tally, next }))) return { tally, ended: false }
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
export async function* prefetchOne<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
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

/**
 * Capture has missed a customer whose row is another than the one that was last read, where no change was captured. A
 * captured change is in the outbox until it is noted, in one transaction. Suppose a customer is owed nothing before
 * its row is read, and afterwards is owed nothing at the same version with nothing in the outbox. Then every change
 * that the row shows was settled: if the mapping makes something else of this row than at the last ending, capture
 * missed the change. While a mark is pending (a TRUNCATE, a full outbox) none counts.
 */
export function makeFindMissed(options: Pick<SweepOptions, 'pool' | 'config' | 'digester'>) {
  const { pool, config, digester } = options
  const { clearWith } = config
  let shape: Promise<CustomersShape> | null = null

  return async (planned: readonly PlannedCustomer[]) => {
    const keys = planned.filter(mayBeMissed).map(({ key }) => key)
    if (keys.length === 0) return []
    shape ??= describeCustomers(pool, config)
    const read = makeReading(pool, config, await shape)
    const before = new Map((await readWork(pool, keys)).work.map((each) => [each.key, each]))
    const { rows } = await read(keys)
    const captured = await capturedOf(pool, keys)
    if (await marksArePending(pool)) return []
    // A customer that is gone then may be one of those: that was captured, and is no miss. It may be dismissed at any page.
    const mayBeTruncated = await truncateWasDismissed(pool)
    const { work, nowMs } = await readWork(pool, keys)
    const now = new Date(nowMs)
    const missed = work.filter((after) => {
      const row = rows.get(after.key)
      if (row === undefined || captured.has(after.key) || (row === null && mayBeTruncated)) return false
      if (!untouched(before.get(after.key), after) || !holds(after, nowMs)) return false
      const mapped = mapFound(config, after.key, row, now)
      if (!after.known) return row !== null && mapped.kind !== 'out-of-scope'
      const { desiredDigest } = after.record
      return desiredDigest !== null && digester.ofCustomer(after.key, mapped, clearWith) !== desiredDigest
    })
    const how = ({ key, known }: Work): keyof Missed =>
      known ? (rows.get(key) === null ? 'deleted' : 'changed') : 'inserted'
    return missed.map((work) => ({ key: work.key, how: how(work) }))
  }
}

/**
 * A customer that may differ in its row, by a first sweep. A difference by a changed digest key, or at the service
 * alone, says nothing about capture.
 */
function mayBeMissed({ verdict, made }: PlannedCustomer): boolean {
  if (verdict !== 'differs' || !made) return false
  const { known, asItWas, comparable, owed } = made.found
  return !known || (!asItWas && comparable && !owed)
}

/** A claim between the two sweeps, also one that nothing was noted for, may have read a later row than was read here. */
function untouched(before: Work | undefined, after: Work): boolean {
  if (!before || before.owed || after.owed) return false
  return before.version === after.version && before.record.desiredDigest === after.record.desiredDigest
}

/** Noted a little after the answer has ceased to hold; see SHORTEST_REPLAN in ledger/ending.ts. */
const REPLAN_MARGIN_MS = 5000

/** The mapped customer of its last ending holds for a while yet, unless its row has changed. */
function holds({ replanAtMs }: Work, nowMs: number): boolean {
  return replanAtMs === null || replanAtMs > nowMs + REPLAN_MARGIN_MS
}
