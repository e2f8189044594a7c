import type { Pool } from 'pg'
import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Condition, conditionsSql } from './conditions.ts'
import type { CustomersShape } from './describe.ts'
import { keySql } from './key.ts'
import { queryCustomers } from './query.ts'

/** The place behind a customer, where a page may begin: the texts of its key's columns, and its one text. */
export type KeyCursor = readonly string[]

/**
 * Pages through the customers in the order of their own key columns, so that the index on these serves each page. The
 * text decides between keys that the columns' type takes for equal (1.0 and 1.00, citext). Otherwise a page that ends
 * between two of them would lose the second. Rows with a NULL in their key are no customers.
 */
export function makeReadKeys(shape: CustomersShape, limit: number, conditions: readonly Condition[] = []) {
  const { key } = shape
  const { from, columns, texts, canonical, present } = keySql(shape)
  const order = [...columns, `${canonical} COLLATE "C"`].join(', ')
  const statement = (behind: readonly string[], parameter: number) => {
    const where = [...present, ...behind, ...conditionsSql(conditions, parameter)]
    return `
SELECT ${texts.map((text, at) => `${text} AS part${at}`).join(', ')}, ${canonical} AS key
FROM ${from}
WHERE ${where.join(' AND ')}
ORDER BY ${order} LIMIT $1`
  }
  const first = statement([], 2)
  const parts = key.map(({ cast, operators }, at) => ({ column: columns[at] ?? '', cast, operators }))
  const text = { column: `${canonical} COLLATE "C"`, cast: 'text', operators: 'pg_catalog' }
  const later = statement([behindSql([...parts, text])], key.length + 3)
  const compared = conditions.flatMap(({ values }) => values)

  return async (client: Client, after: KeyCursor | null) => {
    const { rows } = await queryCustomers<string[]>(client, shape.settings, {
      text: after ? later : first,
      values: [limit, ...(after ?? []), ...compared],
      rowMode: 'array',
    })
    return {
      keys: [...new Set(rows.map((row) => row.at(-1) ?? ''))],
      /** The place behind each of them, in their order; made when it is asked for, since a sweep needs the last alone. */
      cursors: (): ReadonlyMap<CustomerKey, KeyCursor> => new Map(rows.map((row) => [row.at(-1) ?? '', row])),
      next: rows.length < limit ? null : (rows.at(-1) ?? null),
    }
  }
}

type Ordered = { readonly column: string; readonly cast: string; readonly operators: string }

/**
 * The condition for rows after the cursor, whose parts are parameters from the second on. A comparison of rows uses an
 * index of several columns, and finds the system's operators alone; other types' operators are spelled out.
 */
function behindSql(parts: readonly Ordered[]): string {
  const cursor = parts.map(({ cast }, at) => `$${at + 2}::${cast}`)
  if (parts.every(({ operators }) => operators === 'pg_catalog'))
    return `(${parts.map(({ column }) => column).join(', ')}) > (${cursor.join(', ')})`
  return parts.reduceRight((later, { column, operators }, at) => {
    const compared = (operator: string) => `${column} OPERATOR(${operators}.${operator}) ${cursor[at]}`
    return later === '' ? compared('>') : `(${compared('>=')} AND (${compared('>')} OR ${later}))`
  }, '')
}

/** A view may take long to count, and a percentage is not worth the wait. */
const PATIENCE_MS = 5000
const CANCELLED = '57014'

/** How many customers there are; null where counting them takes too long. */
export async function countCustomers(
  pool: Pool,
  shape: CustomersShape,
  conditions: readonly Condition[],
): Promise<number | null> {
  const { from, present } = keySql(shape)
  const where = [...present, ...conditionsSql(conditions, 1)]
  const settings = [...shape.settings, `SET LOCAL statement_timeout = ${PATIENCE_MS}`]
  try {
    const { rows } = await queryCustomers<{ n: number }>(pool, settings, {
      text: `SELECT pg_catalog.count(*)::float8 AS n FROM ${from} WHERE ${where.join(' AND ')}`,
      values: conditions.flatMap(({ values }) => values),
    })
    return rows[0]?.n ?? null
  } catch (error) {
    if ((error as { code?: unknown }).code === CANCELLED) return null
    throw error
  }
}
