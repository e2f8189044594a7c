import type { ClientBase, Pool } from 'pg'
import type { Client } from './client.ts'

/** A process that is suspended in here holds up all others; the server ends its transaction after this. */
const IDLE_MS = 5000

export const LOCK_NOT_AVAILABLE = '55P03'

/**
 * A short transaction that waits for no lock longer than this; 0: as long as it takes. Where it fails, what it holds goes
 * with its connection.
 */
export async function inTransaction<T>(pool: Pool, lockMs: number, work: (client: ClientBase) => Promise<T>) {
  const client = await pool.connect()
  let broken = true
  try {
    const limits = `lock_timeout = ${lockMs}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`
    await client.query(`BEGIN; SET LOCAL ${limits}`)
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
