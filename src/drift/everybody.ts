// The customers of a run, one after the other, from wherever an earlier process has come to.
import type { Reading } from '../customers/reading.ts'
import type { Position as Start } from '../ledger/runs.ts'
import { changedSince } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { everyPage } from '../sync/pages.ts'
import { type Drawn, draw, type Everybody } from './draw.ts'

/**
 * `drawn`: at random. `paged`: everybody, in the order of a sweep; `from`: the place behind the last one who was taken,
 * and not the page in which that one stood, since others may stand there when it is read again.
 */
type RunPosition = { readonly part: 'drawn'; readonly rank: string | null } | Paged
type Paged = { readonly part: 'paged'; readonly from: Start | null }

/** What has to be kept of a run to go on with it. */
export type Place = {
  readonly position: RunPosition
  /** Of a run over everybody: those who were drawn first, and are left out later on. */
  readonly first: readonly CustomerKey[]
}

export const BEGINNING: Place = { position: { part: 'drawn', rank: null }, first: [] }

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

/**
 * A service that is not what it should be shows that in any few of its users: so a run over everybody begins with so
 * many at random, and nobody asks a million times to find out. In the order of the keys the first ones may be alike.
 */
export const FIRST = 30

export async function* everybody(options: Options, from: Place): AsyncGenerator<Next> {
  const { seed, sample } = options
  let { position, first } = from
  if (position.part === 'drawn') {
    const { rank } = position
    const drawn = await draw(options, seed, sample ?? FIRST)
    for (const each of drawn) {
      if (!comesAfter(each, rank)) continue
      if (sample === null) first = [...first, each.key]
      yield { key: each.key, place: { position: { part: 'drawn', rank: each.rank }, first } }
    }
    position = { part: 'paged', from: null }
  }
  if (sample !== null) return
  const known = new Set(first)
  for await (const { key, position: at } of inOrder(options, position))
    if (!known.has(key)) yield { key, place: { position: at, first } }
}

function comesAfter({ rank }: Drawn, last: string | null): boolean {
  return last === null || BigInt(rank) > BigInt(last)
}

type Placed = { readonly key: CustomerKey; readonly position: RunPosition }

/**
 * Keys change meanwhile: who comes in behind the place is a change, and so is owed and no matter of this run. Nor is who
 * was deleted since it began, once those without a row are looked at: most of them have been taken as a row by then.
 */
async function* inOrder(options: Options, { from }: Paged): AsyncGenerator<Placed> {
  const { pool, shape, conditions, page: limit = PAGE } = options
  const paging = { client: pool, shape, limit, conditions, withoutLedger: false }
  for await (const { keys, cursors, onlyGone } of everyPage(paging, from)) {
    const gone = onlyGone ? await withoutRow(keys, options) : null
    for (const [key, after] of cursors()) {
      const behind: Start = { part: onlyGone ? 'gone' : 'customers', after }
      if (gone === null || gone.has(key)) yield { key, position: { part: 'paged', from: behind } }
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
