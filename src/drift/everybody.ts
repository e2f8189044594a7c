// The customers of a run, one after the other, from wherever an earlier process has come to.
import type { Reading } from '../customers/reading.ts'
import type { Position as Start } from '../ledger/runs.ts'
import { changedSince } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { everyPage } from '../sync/pages.ts'
import { draw, type Everybody } from './draw.ts'

/**
 * `drawn`: at random. `paged`: everybody, in the order of a sweep; `from`: the place behind the last one who was taken,
 * and not the page in which that one stood, since others may stand there when it is read again. What has to be kept of a
 * run to go on with it.
 */
export type Place =
  | { readonly part: 'drawn'; readonly rank: string | null }
  | { readonly part: 'paged'; readonly from: Start | null }

/** Of a run over so many at random, or over everybody. */
export function beginningOf(sample: number | null): Place {
  return sample === null ? { part: 'paged', from: null } : { part: 'drawn', rank: null }
}

/** A customer to look at, and the place once it was taken. */
export type Next = { readonly key: CustomerKey; readonly place: Place }

type Options = Everybody & {
  readonly readCustomers: Reading
  readonly seed: string
  /** Null: everybody. */
  readonly sample: number | null
  /** When the run began, ISO 8601. */
  readonly startedAt: string
  readonly page?: number
}

const PAGE = 1000

export async function* everybody(options: Options, from: Place): AsyncGenerator<Next> {
  if (from.part === 'paged') return yield* inOrder(options, from.from)
  const drawn = await draw(options, options.seed, options.sample ?? 0)
  for (const { key, rank } of drawn)
    if (comesAfter(rank, from.rank)) yield { key, place: { part: 'drawn', rank } }
}

function comesAfter(rank: string, last: string | null): boolean {
  return last === null || BigInt(rank) > BigInt(last)
}

/**
 * Keys change meanwhile: who comes in behind the place is a change, and so is owed and no matter of this run. Nor is who
 * was deleted since it began, once those without a row are looked at: most of them have been taken as a row by then.
 */
async function* inOrder(options: Options, from: Start | null): AsyncGenerator<Next> {
  const { pool, shape, conditions, page: limit = PAGE } = options
  const paging = { client: pool, shape, limit, conditions, withoutLedger: false }
  for await (const { keys, cursors, onlyGone } of everyPage(paging, from)) {
    const gone = onlyGone ? await withoutRow(keys, options) : null
    for (const [key, after] of cursors()) {
      const behind: Start = { part: onlyGone ? 'gone' : 'customers', after }
      if (gone === null || gone.has(key)) yield { key, place: { part: 'paged', from: behind } }
    }
  }
}

/** Of these, who had no row when the run began, and has none now. */
async function withoutRow(
  keys: readonly CustomerKey[],
  { readCustomers, pool, startedAt }: Options,
): Promise<ReadonlySet<CustomerKey>> {
  const { rows } = await readCustomers(keys)
  const gone = keys.filter((key) => rows.get(key) === null)
  const changed = await changedSince(pool, gone, startedAt)
  return new Set(gone.filter((key) => !changed.has(key)))
}
