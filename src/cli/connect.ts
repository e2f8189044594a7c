import type { Pool } from 'pg'
import { endPool, makePool } from '../customers/pool.ts'
import { reachable } from '../ledger/reachable.ts'
import { aborted } from './stop.ts'

/** By then a command that has ended has nothing under way. */
const CUT_MS = 5000

/**
 * Opens the database for a command and closes it after; a server that is away is said in a sentence. Where `stop` is
 * given it ends the command at once, also while a query waits for a lock.
 */
export async function withPool<T>(
  { url, stop }: { readonly url: string; readonly stop?: AbortSignal },
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  // A connection that breaks while idle shows in the next statement.
  const pool = makePool({ url, max: 4, applicationName: 'rollcall', onError: () => undefined })
  try {
    if (!stop) return await reachable(() => work(pool))
    const stopped = aborted(stop).then((): never => {
      throw stop.reason
    })
    return await reachable(() => Promise.race([work(pool), stopped]))
  } finally {
    await endPool(pool, stop?.aborted ? 0 : CUT_MS)
  }
}
