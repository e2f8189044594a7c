import type { Pool } from 'pg'
import { endPool, makePool } from '../database/pool.ts'
import { databaseAt, roleOf } from '../database/session.ts'
import { PATIENCE_MS } from '../explain/in-time.ts'
import { reachable } from '../ledger/reachable.ts'
import { aborted } from './stop.ts'

type Options = { readonly url: string; readonly stop: AbortSignal }

/**
 * The database for a command that somebody waits for: no query takes longer than PATIENCE_MS, and `stop` ends it at
 * once, with an error. What still waits for a lock then, or at the end, is cut off and not waited for.
 */
export async function withImpatientPool<T>(
  { url, stop }: Options,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = makePool({
    url,
    max: 4,
    applicationName: 'rollcall',
    statementTimeoutMs: PATIENCE_MS,
    onError: () => undefined, // a connection that breaks while idle shows in the next statement
  })
  const stopped = aborted(stop).then((): never => {
    throw stop.reason
  })
  try {
    return await reachable(() => Promise.race([work(pool), stopped]), {
      role: roleOf(databaseAt(url)),
    })
  } finally {
    await endPool(pool, 0)
  }
}
