import type { Pool } from 'pg'

/** A backlog of captured changes is not waited for: whoever asks comes again. */
const PATIENCE_MS = 1000
const POLL_MS = 50

type Options = {
  readonly pool: Pool
  readonly sleep: (ms: number) => Promise<void>
  /** Notes some of the captured changes; resolves to how many it took. */
  readonly drain: () => Promise<number>
}

/**
 * Whether every change that is captured by now is noted; it notes them itself, for a moment. The transaction that took
 * a row away may have brought another customer with the same user, and until that is noted nobody knows.
 */
export async function whenNoted({ pool, sleep, drain }: Options): Promise<boolean> {
  const { rows } = await pool.query<{ last: string | null }>(
    'SELECT max(id)::text AS last FROM rollcall.outbox',
  )
  const last = rows[0]?.last ?? null
  if (last === null) return true
  const started = performance.now()
  while (performance.now() - started < PATIENCE_MS) {
    // Nothing to take: what is left is with another process, which notes it now.
    if ((await drain()) === 0) await sleep(POLL_MS)
    const { rows } = await pool.query<{ left: boolean }>(
      'SELECT EXISTS (SELECT FROM rollcall.outbox WHERE id <= $1) AS left',
      [last],
    )
    if (!rows[0]?.left) return true
  }
  return false
}
