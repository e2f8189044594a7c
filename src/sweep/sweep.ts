import type { Condition } from '../customers/condition.ts'
import { describeCustomers } from '../customers/describe.ts'
import type { Position } from '../ledger/sweeps.ts'
import { type Judged, type Judging, makeJudge } from './judge.ts'
import { everyPage } from './pages.ts'
import { addTo, NOTHING_FOUND, type Tally } from './tally.ts'

/** What a page has brought. */
export type Looked = {
  readonly judged: readonly Judged[]
  /** Of everybody so far. */
  readonly tally: Tally
  /** Where the next page begins; null: this was the last one. */
  readonly next: Position | null
}

export type SweepOptions = Judging & {
  /** Ends the sweep between two pages. */
  readonly signal: AbortSignal
  /** Told of each page, which is not behind before it has resolved. False ends the sweep there. */
  readonly onPage?: (looked: Looked) => Promise<boolean>
  /** Only customers for whom all of these hold; default everybody. */
  readonly conditions?: readonly Condition[]
  /** Where an earlier one stopped, and what it had found. */
  readonly from?: { readonly position: Position | null; readonly tally: Tally }
  /** Customers in a page; default 1000. */
  readonly page?: number
}

/** `ended`: everybody was looked at. */
export type Swept = { readonly tally: Tally; readonly ended: boolean }

const PAGE = 1000

/**
 * Plans for everybody as a claim would, without a call and without a write: page by page in the order of the keys, each
 * page in statements of its own, so that nothing is held and memory does not grow. Who is in the ledger without a row
 * comes last. What changes behind the sweep's back is captured, and so owed anyway.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { pool, config, signal, onPage, conditions = [], page = PAGE, from, withoutLedger = false } = options
  const shape = await describeCustomers(pool, config)
  const judge = makeJudge(options, shape)
  let tally = from?.tally ?? NOTHING_FOUND
  const paging = { client: pool, shape, limit: page, conditions, withoutLedger }
  for await (const { next, ...keys } of everyPage(paging, from?.position ?? null)) {
    if (signal.aborted) return { tally, ended: false }
    const judged = await judge(keys)
    tally = judged.reduce(addTo, tally)
    if (onPage && !(await onPage({ judged, tally, next }))) return { tally, ended: false }
  }
  return { tally, ended: true }
}
