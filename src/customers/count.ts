import type { Pool } from 'pg'
import { type Condition, conditionsSql } from './condition.ts'
import type { CustomersShape } from './describe.ts'
import { keySql } from './key.ts'
import { queryCustomers } from './query.ts'

/** A view may take long to count, and nobody wants to wait for a percentage. */
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
