// All customers, page by page: customers in the order of their own keys, then those who have a record and maybe no row.

import type { Condition } from '../customers/conditions.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { type KeyCursor, makeReadKeys } from '../customers/pages.ts'
import type { Client } from '../database/client.ts'
import type { Position } from '../ledger/runs.ts'
import { ledgerKeys } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'

type Page = {
  readonly keys: readonly CustomerKey[]
  /** The place behind each of them, in their order: it holds whatever customers come or go meanwhile. */
  readonly cursors: () => ReadonlyMap<CustomerKey, KeyCursor>
  /** Only those without a row are to be read; the others were in an earlier page. */
  readonly onlyGone: boolean
  /** Where the next page begins; null: this is the last one. */
  readonly next: Position | null
}

type Paging = {
  readonly client: Client
  readonly shape: CustomersShape
  readonly limit: number
  /** Only customers for which all of these hold; a customer without a row is then left out. */
  readonly conditions: readonly Condition[]
  /** Nothing is recorded yet: there are no tables of ours to read, or they are not to be read. */
  readonly withoutLedger: boolean
}

/** A customer inserted behind the position is captured: so pages may be of different moments, without a transaction. */
export async function* everyPage(
  { client, shape, limit, conditions, withoutLedger }: Paging,
  from: Position | null,
): AsyncGenerator<Page> {
  const alone = withoutLedger || conditions.length > 0
  if (from?.part !== 'gone') {
    const readKeys = makeReadKeys(shape, limit, conditions)
    let after: KeyCursor | null = from?.after ?? null
    do {
      const { next, ...page }: Awaited<ReturnType<typeof readKeys>> = await readKeys(client, after)
      after = next
      const rest: Position | null = alone ? null : { part: 'gone', after: null }
      yield { ...page, onlyGone: false, next: after ? { part: 'customers', after } : rest }
    } while (after)
  }
  if (alone) return
  let after: CustomerKey | null = from?.part === 'gone' ? (from.after?.[0] ?? null) : null
  for (;;) {
    const keys: readonly CustomerKey[] = await ledgerKeys(client, after, limit)
    after = keys.at(-1) ?? null
    const last = keys.length < limit || after === null
    const cursors = () => new Map(keys.map((key) => [key, [key]]))
    yield { keys, cursors, onlyGone: true, next: last ? null : { part: 'gone', after: [after as string] } }
    if (last) return
  }
}
