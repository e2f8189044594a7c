// All customer keys, page by page.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { type Condition, conditionsSql } from './condition.ts'
import type { CustomersShape } from './describe.ts'
import { keySql } from './key-sql.ts'

/** The place behind a customer, where a page may begin: the texts of its key's columns, and its one text. */
export type KeyCursor = readonly string[]

export type KeyPage = {
  /** Each key once. */
  readonly keys: readonly CustomerKey[]
  /** The place behind each of them, in their order; made when it is asked for, since a sweep needs the last alone. */
  readonly cursors: () => ReadonlyMap<CustomerKey, KeyCursor>
  /** Where the next page begins; null after the last one. */
  readonly next: KeyCursor | null
}

type ReadKeys = (client: Pick<ClientBase, 'query'>, after: KeyCursor | null) => Promise<KeyPage>

/**
 * Pages through the customers in the order of their own key columns, so that the index on these serves each page.
 * The text decides between keys that the columns' type takes for equal (1.0 and 1.00, citext), or a page that ends
 * between two of them would lose the second. Rows with a NULL in their key are no customers.
 */
export function makeReadKeys(
  shape: CustomersShape,
  limit: number,
  conditions: readonly Condition[] = [],
): ReadKeys {
  const { key } = shape
  const { from, columns, texts, canonical, present } = keySql(shape)
  const order = [...columns, `${canonical} COLLATE "C"`].join(', ')
  const cursor = [...key.map(({ cast }, at) => `$${at + 2}::${cast}`), `$${key.length + 2}::text`].join(', ')
  const statement = (behind: readonly string[], parameter: number) => {
    const where = [...present, ...behind, ...conditionsSql(conditions, parameter)]
    return `
SELECT ${texts.map((text, at) => `${text} AS part${at}`).join(', ')}, ${canonical} AS key
FROM ${from}
WHERE ${where.join(' AND ')}
ORDER BY ${order} LIMIT $1`
  }
  const first = statement([], 2)
  const later = statement([`(${order}) > (${cursor})`], key.length + 3)
  const asked = conditions.flatMap(({ values }) => values)

  return async (client, after) => {
    const { rows } = await client.query<string[]>({
      text: after ? later : first,
      values: [limit, ...(after ?? []), ...asked],
      rowMode: 'array',
    })
    return {
      keys: [...new Set(rows.map((row) => row.at(-1) ?? ''))],
      cursors: () => new Map(rows.map((row) => [row.at(-1) ?? '', row])),
      next: rows.length < limit ? null : (rows.at(-1) ?? null),
    }
  }
}
