// The customers of a run, one after the other, from wherever an earlier process has come to.
import type { Found } from '../customers/read.ts'
import type { Position as Start } from '../ledger/sweeps.ts'
import type { CustomerKey } from '../model/customer.ts'
import { readRows } from '../sync/page.ts'
import { everyPage } from '../sync/pages.ts'
import { type Drawn, draw, type Everybody } from './draw.ts'

/**
 * `drawn`: at random. `paged`: everybody, page by page; `start`: where the page begins in which the last one was who was
 * taken, `after`: who that was.
 */
export type Position = { readonly part: 'drawn'; readonly rank: string | null } | Paged
type Paged = { readonly part: 'paged'; readonly start: Start | null; readonly after: CustomerKey | null }

/** What has to be kept of a run to go on with it. */
export type Place = {
  readonly position: Position
  /** Of a run over everybody: those who were drawn first, and are left out later on. */
  readonly first: readonly CustomerKey[]
}

export const BEGINNING: Place = { position: { part: 'drawn', rank: null }, first: [] }

/** A customer to look at, and the place once it was taken. */
export type Next = { readonly key: CustomerKey; readonly place: Place }

type Options = Everybody & {
  readonly readCustomers: (keys: readonly CustomerKey[]) => Promise<ReadonlyMap<CustomerKey, Found>>
  readonly seed: string
  /** Null: everybody. */
  readonly sample: number | null
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
    position = { part: 'paged', start: null, after: null }
  }
  if (sample !== null) return
  const known = new Set(first)
  for await (const { key, position: at } of inOrder(options, position))
    if (!known.has(key)) yield { key, place: { position: at, first } }
}

function comesAfter({ rank }: Drawn, last: string | null): boolean {
  return last === null || BigInt(rank) > BigInt(last)
}

type Placed = { readonly key: CustomerKey; readonly position: Position }

/** Keys change meanwhile: who comes in behind the place is a change, and so is owed and no matter of this run. */
async function* inOrder(options: Options, from: Paged): AsyncGenerator<Placed> {
  const { pool, shape, conditions, page: limit = PAGE } = options
  let { start, after } = from
  const paging = { client: pool, shape, limit, conditions, withoutLedger: false }
  for await (const { keys, onlyGone, next } of everyPage(paging, start)) {
    const rest = behind(keys, after)
    for (const key of onlyGone ? await withoutRow(rest, options) : rest)
      yield { key, position: { part: 'paged', start, after: key } }
    start = next
    after = null
  }
}

/** Where the last one who was taken is gone meanwhile, the page is taken once more: rather twice than never. */
function behind(keys: readonly CustomerKey[], after: CustomerKey | null): readonly CustomerKey[] {
  return after === null ? keys : keys.slice(keys.indexOf(after) + 1)
}

async function withoutRow(
  keys: readonly CustomerKey[],
  { readCustomers }: Options,
): Promise<readonly CustomerKey[]> {
  if (keys.length === 0) return []
  const { rows } = await readRows(readCustomers, keys)
  return keys.filter((key) => rows.has(key) && rows.get(key) === null)
}
