import type { Pool } from 'pg'
import { endPool, makePool } from '../database/pool.ts'
import { type DatabaseAddress, databaseAt, roleOf } from '../database/session.ts'
import { reachable } from '../ledger/reachable.ts'
import { aborted } from './stop.ts'

type Options = {
  readonly url: string
  /** Where the address came from; default: DATABASE_URL. */
  readonly variable?: string
  readonly stop?: AbortSignal
}

/** The role that owns rollcall's tables and writes the triggers. */
export function ownerIn(env: {
  readonly DATABASE_URL: string
  readonly MIGRATE_DATABASE_URL?: string
}): DatabaseAddress {
  const { DATABASE_URL, MIGRATE_DATABASE_URL: url } = env
  return url === undefined ? databaseAt(DATABASE_URL) : { url, variable: 'MIGRATE_DATABASE_URL' }
}

/** By then a command that has ended has nothing under way. */
const CUT_MS = 5000

/**
 * Opens the database for a command and closes it after; a server that is away is said in a sentence. Where `stop` is
 * given it ends the command at once, also while a query waits for a lock.
 */
export async function withPool<T>(
  { url, variable = 'DATABASE_URL', stop }: Options,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  // A connection that breaks while idle shows in the next statement.
  const pool = makePool({ url, variable, max: 4, applicationName: 'rollcall', onError: () => undefined })
  const role = roleOf({ url, variable })
  try {
    if (!stop) return await reachable(() => work(pool), { role })
    const stopped = aborted(stop).then((): never => {
      throw stop.reason
    })
    return await reachable(() => Promise.race([work(pool), stopped]), { role })
  } finally {
    await endPool(pool, stop?.aborted ? 0 : CUT_MS)
  }
}
