import type { Pool } from 'pg'
import { makePool } from '../customers/pool.ts'
import { reachable } from '../ledger/reachable.ts'

/** Opens the database for a command and closes it after; a server that is away is said in a sentence. */
export async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  // A connection that breaks while idle shows in the next statement.
  const pool = makePool({ url, max: 4, applicationName: 'rollcall', onError: () => undefined })
  try {
    return await reachable(() => work(pool))
  } finally {
    await pool.end()
  }
}
