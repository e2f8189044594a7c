// A worker may be started before the servers that it needs: it waits for them.
import { type ErrorCode, RollcallError } from '../model/errors.ts'

type WaitingForServer = {
  /** Ends the waiting. */
  readonly stop: AbortSignal
  /** Milliseconds; ends early with the signal. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** A server is away: told at first, and then not too often. */
  readonly tell: (trouble: RollcallError) => void
}

const FIRST_PAUSE_MS = 500
const MOST_PAUSE_MS = 10_000
const TELL_AGAIN_MS = 30_000

/** What passes by itself. A wrong password or a missing table does not, and is best told at once. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['DATABASE_DOWN', 'QUEUE_DOWN'])

/**
 * Tries `open` until nothing that it needs is away, with growing pauses. Resolves to null when it was told to stop
 * before that; every other error is thrown as it is.
 */
export async function whenUp<T>(open: () => Promise<T>, waiting: WaitingForServer): Promise<T | null> {
  const { stop, sleep, now, tell } = waiting
  const told = new Map<ErrorCode, number>()
  for (let pause = FIRST_PAUSE_MS; !stop.aborted; pause = Math.min(MOST_PAUSE_MS, pause * 2)) {
    try {
      return await open()
    } catch (error) {
      // Told to stop, we may ourselves have broken off what then failed.
      if (stop.aborted) return null
      if (!(error instanceof RollcallError) || !PASSING.has(error.code)) throw error
      const toldAt = told.get(error.code)
      if (toldAt === undefined || now() - toldAt >= TELL_AGAIN_MS) {
        tell(error)
        told.set(error.code, now())
      }
      await sleep(pause, stop)
    }
  }
  return null
}
