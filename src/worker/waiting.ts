// A worker may be started before the servers that it needs: it waits for them.
import { runLoop } from '../dispatch/loop.ts'
import { databaseError } from '../ledger/reachable.ts'
import { type ErrorCode, RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { type Log, recoveryLevel, troubleLevel } from '../ops/log.ts'
import { sleep } from '../ops/time.ts'
import { makeReminder } from './log.ts'
import type { LoopName, Observing } from './ops.ts'

type WaitingForServer = {
  readonly stop: AbortSignal
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly now: () => number
  /** A server is away: reported at first, and then not too often. */
  readonly tell: (trouble: RollcallError) => void
}

const FIRST_PAUSE_MS = 500
const MOST_PAUSE_MS = 10_000
const SERVERS_AGAIN_MS = 30_000

/** Errors that pass by themselves. A wrong password or a missing table does not, and is best reported at once. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['DATABASE_DOWN', 'QUEUE_DOWN'])

/**
 * Tries `open` until nothing that it needs is away, with growing pauses. Resolves to null when it was told to stop
 * before that; every other error is thrown as it is.
 */
export async function whenUp<T>(open: () => Promise<T>, waiting: WaitingForServer): Promise<T | null> {
  const { stop, sleep, now, tell } = waiting
  const isTime = makeReminder(SERVERS_AGAIN_MS, now)
  for (let pause = FIRST_PAUSE_MS; !stop.aborted; pause = Math.min(MOST_PAUSE_MS, pause * 2)) {
    try {
      return await open()
    } catch (error) {
      // Told to stop, we may ourselves have broken off what then failed.
      if (stop.aborted) return null
      if (!(error instanceof RollcallError) || !PASSING.has(error.code)) throw error
      if (isTime(error.code)) tell(error)
      await sleep(pause, stop)
    }
  }
  return null
}

type Options = {
  readonly log: Log
  /** As `roleOf` has it. */
  readonly role: string
  readonly signal: AbortSignal
  readonly watch: Observing['watchLoop'] | undefined
}

/** For the log; Postgres' own sentence names roles and tables, and no value. */
export function explained(error: unknown, role: string) {
  const known = error instanceof RollcallError ? error : databaseError(error, { role })
  return { ...nameOf(error), ...(known && { why: known.details }) }
}

/** The worker's loops: each repeats its step until the worker stops, and tells when it fails and when it works again. */
export function makeLoops({ log, role, signal, watch }: Options) {
  function run(loop: LoopName, step: () => Promise<boolean>, everyMs?: number): Promise<void> {
    let failed = 0
    return runLoop({
      ...{ step: watch?.(loop, step) ?? step, sleep, now: () => performance.now(), signal },
      ...(everyMs === undefined ? {} : { everyMs }),
      onTrouble(failures, error) {
        if (failures === 0) log[recoveryLevel(failed)]({ loop }, 'the step works again')
        else {
          const about = { loop, failures, ...explained(error, role) }
          log[troubleLevel(failures)](about, 'a step of the worker failed: the worker will retry it')
        }
        failed = failures
      },
    })
  }
  return {
    /** Again as soon as there is something to do, which the step resolves to. */
    repeat: (loop: LoopName, step: () => Promise<boolean>) => run(loop, step),
    /** With so much time between. */
    every: (ms: number, loop: LoopName, step: () => Promise<unknown>) =>
      run(loop, () => step().then(() => false), ms),
  }
}
