// Before a customer loses something: what is captured may say otherwise.
import type { Pool } from 'pg'
import { oneRow } from '../database/client.ts'

/** A backlog of captured changes is not waited for: the caller comes again. */
const PATIENCE_MS = 1000
const POLL_MS = 50

type Noting = {
  readonly pool: Pool
  readonly sleep: (ms: number) => Promise<void>
  readonly drain: () => Promise<number>
}

/**
 * Whether every change that is captured by now is noted; it notes them itself, for a moment. The transaction that took
 * a row away may have brought another customer with the same user, and until that is noted it is not known.
 */
export async function whenNoted({ pool, sleep, drain }: Noting): Promise<boolean> {
  const newest = 'SELECT max(id)::text AS last FROM rollcall.outbox'
  const { last } = await oneRow<{ last: string | null }>(pool, newest)
  if (last === null) return true
  const started = performance.now()
  while (performance.now() - started < PATIENCE_MS) {
    // Nothing to take: what is left is with another process, which notes it now.
    if ((await drain()) === 0) await sleep(POLL_MS)
    const waiting = 'SELECT EXISTS (SELECT FROM rollcall.outbox WHERE id <= $1) AS left'
    if (!(await oneRow<{ left: boolean }>(pool, waiting, [last])).left) return true
  }
  return false
}
