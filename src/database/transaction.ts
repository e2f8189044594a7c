import type { ClientBase, Pool } from 'pg'
import type { Client } from './client.ts'

/** A process that is suspended in a transaction holds up all others; the server ends the transaction after five seconds. */
const BEGIN_SHORT = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'`

export const LOCK_NOT_AVAILABLE = '55P03'

/** A short transaction that waits for no lock longer than this; 0: as long as it takes. */
export async function inTransaction<T>(pool: Pool, lockMs: number, work: (client: ClientBase) => Promise<T>) {
  const client = await pool.connect()
  let broken = true
  try {
    const begin = `${BEGIN_SHORT}; SET LOCAL lock_timeout = ${lockMs}`
    const result = await committed(client, () => work(client), begin)
    broken = false
    return result
  } finally {
    client.release(broken)
  }
}

/** The same in a session of the caller's, as long as it takes. */
export async function committed<T>(client: Client, work: () => Promise<T>, begin = 'BEGIN'): Promise<T> {
  await client.query(begin)
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    // Postgres reports an error before it gives up the locks, and the next statement may pass over locked rows.
    await client.query('ROLLBACK').catch(() => undefined) // what ended it is reported
    throw error
  }
}
