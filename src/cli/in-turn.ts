import type { Pool } from 'pg'
import { alone } from '../ledger/alone.ts'
import { sleep } from '../ops/time.ts'

const POLL_MS = 500

type Turn = {
  readonly pool: Pool
  readonly signal: AbortSignal
  /** Called while another process is at it, before each wait. */
  readonly onWait: (first: boolean) => Promise<void> | void
}

/** Does work that one process at a time may do, once no other one is at it. Null: `signal` was aborted before. */
export async function inTurn<T>(
  { pool, signal, onWait }: Turn,
  what: Parameters<typeof alone>[1],
  work: () => Promise<T>,
): Promise<{ readonly value: T } | null> {
  for (let first = true; !signal.aborted; first = false) {
    const done = await alone(pool, what, async () => ({ value: await work() }))
    if (done) return done
    await onWait(first)
    await sleep(POLL_MS, signal)
  }
  return null
}
