import type { Pool } from 'pg'
import { alone } from '../ledger/alone.ts'
import { sleep } from '../ops/time.ts'
import type { SweepEnd } from '../sweep/run.ts'
import { NOTHING_FOUND } from '../sweep/verdict.ts'

const POLL_MS = 500

type InTurn = {
  readonly pool: Pool
  readonly signal: AbortSignal
  /** Called once, where it has to wait, and `onWait` has not thrown: another process is at it, or the work may not be done yet. */
  readonly say: () => void
  readonly onWait?: () => Promise<void>
}

/**
 * Does work that one process at a time may do, once no other one is at it. Work that comes to null may not be done yet, and
 * is tried again. Null: `signal` was aborted before.
 */
export async function inTurn<T extends object>(
  { pool, signal, say, onWait }: InTurn,
  what: Parameters<typeof alone>[1],
  work: () => Promise<T | null>,
): Promise<T | null> {
  for (let first = true; !signal.aborted; first = false) {
    const done = await alone(pool, what, work)
    if (done) return done
    await onWait?.()
    if (first) say()
    await sleep(POLL_MS, signal)
  }
  return null
}

export const NOT_SWEPT: SweepEnd = { tally: NOTHING_FOUND, ended: false, superseded: false, examples: [] }
