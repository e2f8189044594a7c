import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import { type KeyCursor, makeReadKeys } from '../customers/pages.ts'
import { markSwept, readStanding } from '../ledger/generation.ts'
import { noteGently, noteNow } from '../ledger/note.ts'
import { ledgerKeys } from '../ledger/sweep.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import { NOTHING_FOUND, type Tally } from '../sync/differs.ts'
import type { Digester } from '../sync/digest.ts'
import { makeJudge } from './judge.ts'

export type SweepOptions = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: Digester
  /** Ends the sweep between two pages. */
  readonly signal: AbortSignal
  /** Asked before each page; default always. */
  readonly goOn?: () => Promise<boolean>
  readonly onPage?: (tally: Tally) => void
  /** Customers in a page; default 1000. */
  readonly page?: number
}

/** `ended`: everybody was looked at. */
export type Swept = { readonly tally: Tally; readonly ended: boolean }

const PAGE = 1000

/**
 * Plans for everybody as a claim would, without a call and, but for the notes, without a write: page by page in the
 * order of the keys, each page in statements of its own, so that nothing is held and memory does not grow. Who is in
 * the ledger without a row comes last. What changes behind the sweep's back is captured, and so owed anyway.
 *
 * @param note whether those who differ are noted: owed a sync, in the lane of a backfill
 */
export async function sweep(options: SweepOptions, note: boolean): Promise<Swept> {
  const { pool, config, signal, goOn = async () => true, onPage, page = PAGE } = options
  const shape = await describeCustomers(pool, config)
  const judge = makeJudge(options, shape)
  let tally = NOTHING_FOUND
  for await (const { keys, onlyGone } of everyKey(pool, shape, page)) {
    if (signal.aborted || !(await goOn())) return { tally, ended: false }
    const judged = await judge(keys, onlyGone, tally)
    tally = judged.tally
    if (note) {
      await noteNow(pool, judged.now, LANE.backfill)
      await noteGently(pool, judged.gently, LANE.backfill)
    }
    onPage?.(tally)
  }
  return { tally, ended: true }
}

/**
 * The sweep that applies the present mapping: the generation counts as swept once everybody was looked at. A process
 * that dies before leaves it unswept, and another one begins again: who is owed by then is passed over. It ends early
 * when syncs go by another mapping meanwhile.
 */
export async function sweepGeneration(options: SweepOptions, generation: string): Promise<Swept> {
  const { pool, config } = options
  const goOn = async () => (await readStanding(pool, config.fingerprint))?.current === true
  const swept = await sweep({ ...options, goOn }, true)
  if (swept.ended) await markSwept(pool, generation)
  return swept
}

type Keys = { readonly keys: readonly CustomerKey[]; readonly onlyGone: boolean }

async function* everyKey(pool: Pool, shape: CustomersShape, limit: number): AsyncGenerator<Keys> {
  const readKeys = makeReadKeys(shape, limit)
  let cursor: KeyCursor | null = null
  do {
    const page: Awaited<ReturnType<typeof readKeys>> = await readKeys(pool, cursor)
    if (page.keys.length > 0) yield { keys: page.keys, onlyGone: false }
    cursor = page.next
  } while (cursor)
  let after: CustomerKey | null = null
  for (;;) {
    const keys: readonly CustomerKey[] = await ledgerKeys(pool, after, limit)
    if (keys.length > 0) yield { keys, onlyGone: true }
    if (keys.length < limit) return
    after = keys.at(-1) ?? null
  }
}
