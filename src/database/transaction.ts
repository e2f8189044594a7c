import type { ClientBase, Pool } from 'pg'
import type { Client } from './client.ts'

/** A process that is suspended in a transaction holds up all others; the server ends the transaction after five seconds. */
export const BEGIN_SHORT = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'`

export const LOCK_NOT_AVAILABLE = '55P03'

/**
 * A short transaction that waits for no lock longer than this; 0: as long as it takes. Where it fails, what it holds goes
 * with its connection.
 */
export async function inTransaction<T>(pool: Pool, lockMs: number, work: (client: ClientBase) => Promise<T>) {
  const client = await pool.connect()
  let broken = true
  try {
    await client.query(`${BEGIN_SHORT}; SET LOCAL lock_timeout = ${lockMs}`)
    const result = await work(client)
    await client.query('COMMIT')
    broken = false
    return result
  } finally {
    client.release(broken)
  }
}

/** The same in a session of the caller's, as long as it takes. */
export async function committed<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined) // what ended it is reported
    throw error
  }
}
