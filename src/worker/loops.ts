import { runLoop } from '../dispatch/loop.ts'
import { databaseError } from '../ledger/reachable.ts'
import { nameOf } from '../model/name-of.ts'
import { type Log, recoveryLevel, troubleLevel } from '../ops/log.ts'
import { sleep } from '../ops/time.ts'
import type { LoopName, Measuring } from './measuring.ts'

type Options = {
  readonly log: Log
  /** Ends all of them. */
  readonly signal: AbortSignal
  /** Sees each step. */
  readonly watch: Measuring['observers']['watchLoop'] | undefined
}

/** The worker's loops: each repeats its step until the worker stops, and tells when it fails and when it works again. */
export function makeLoops({ log, signal, watch }: Options) {
  function run(loop: LoopName, step: () => Promise<boolean>, everyMs?: number): Promise<void> {
    let failed = 0
    return runLoop({
      ...{ step: watch?.(loop, step) ?? step, sleep, now: () => performance.now(), signal },
      ...(everyMs === undefined ? {} : { everyMs }),
      onTrouble(failures, error) {
        if (failures === 0) log[recoveryLevel(failed)]({ loop }, 'it works again')
        else {
          // Postgres' own sentence names roles and tables, and no value.
          const known = databaseError(error)
          const about = { loop, failures, ...nameOf(error), ...(known && { why: known.details }) }
          log[troubleLevel(failures)](about, 'a step failed and will be tried again')
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
