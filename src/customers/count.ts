import type { Pool } from 'pg'
import { type Condition, conditionsSql } from './condition.ts'
import type { CustomersShape } from './describe.ts'
import { keySql } from './key-sql.ts'

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
  const client = await pool.connect()
  let broken = true
  try {
    await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${PATIENCE_MS}`)
    const { rows } = await client.query<{ n: number }>(
      `SELECT count(*)::float8 AS n FROM ${from} WHERE ${where.join(' AND ')}`,
      conditions.flatMap(({ values }) => values),
    )
    await client.query('COMMIT')
    broken = false
    return rows[0]?.n ?? null
  } catch (error) {
    if ((error as { code?: unknown }).code === CANCELLED) return null
    throw error
  } finally {
    client.release(broken)
  }
}
