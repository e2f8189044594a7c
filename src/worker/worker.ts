import { roleBehind } from '../database/pool.ts'
import type { JobQueue } from '../dispatch/queue.ts'
import { makeCallLog } from '../ledger/call-log.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { type Log, processName } from '../ops/log.ts'
import { sleep, systemClock } from '../ops/time.ts'
import type { SyncLeaseOptions } from '../sync/run.ts'
import { makeHousekeeping } from './housekeeping.ts'
import { makeMappingWatch, makePausing, makeTakingPart } from './mapping-watch.ts'
import type { Opened } from './open-sync.ts'
import type { Observing } from './ops.ts'
import { makeProbe } from './probe.ts'
import { startReconciling } from './reconciling.ts'
import { makeSweeping } from './sweeping.ts'
import { startSyncing } from './syncing.ts'
import { makeLoops } from './waiting.ts'

/** `onCaptured` is for openSync. */
export type Observers = Pick<Observing, 'onCaptured'> &
  Partial<Pick<Observing, 'onCheck' | 'watchLoop'>> & { readonly onStep: SyncLeaseOptions['observe'] }

type Options = {
  readonly opened: Opened
  readonly queue: JobQueue
  readonly log: Log
  readonly observers: Omit<Observers, 'onCaptured'>
}

/** After breaking off, this long is left to record what became of the calls. */
const RECORD_MS = 1000
const HOUSEKEEPING_MS = 5000
const SWEEP_MS = 1000
const PAUSING_MS = 500
const WITNESS_MS = 1000
/** How often a worker checks that the queue still has the schedule of checks. */
const SCHEDULE_MS = 10_000

export async function startWorker({ opened, queue, log, observers }: Options) {
  const { pool, context, pace, binding } = opened
  const { config, digester } = context
  const { watchLoop: watch, onStep } = observers
  const now = systemClock.monotonic
  const role = roleBehind(pool)
  const { promise: failed, resolve: fail } = Promise.withResolvers<RollcallError>()
  const stopping = new AbortController()
  const { signal } = stopping
  const abort = new AbortController()
  const calls = makeCallLog({
    ...{ pool, by: processName('worker'), sleep },
    onTrouble: (trouble) => {
      if ('error' in trouble)
        log.warn(nameOf(trouble.error), 'the log of calls cannot be written: the worker will retry')
      else log.warn({ calls: trouble.dropped }, 'calls are missing in the log of calls')
    },
  })
  const mapping = makeMappingWatch({ pool, fingerprint: config.fingerprint, log, now })
  const { dispatch, consumer, idle, witness } = await startSyncing({
    ...{ opened, queue, log, calls, mapping, onStep, stopping: signal, abort: abort.signal },
  })
  const takingPart = makeTakingPart(consumer)
  const start = async () => {
    await mapping.start(takingPart('mapping'), opened.mapping)
    const onCheck = (entry: CallEntry) => {
      calls.add(entry)
      observers.onCheck?.(entry)
    }
    return await startReconciling({ opened, queue, log, logCall: onCheck, signal, watch })
  }
  const reconciling = await start().catch(async (error: unknown) => {
    stopping.abort()
    await Promise.allSettled([consumer.close(RECORD_MS), calls.close()])
    throw error
  })
  const probe = makeProbe({ pool, users: context.users, signal, log: calls.add })
  const sweep = makeSweeping({ pool, config, digester, log, signal })
  const { repeat, every } = makeLoops({ log, role, signal, watch })
  const loops = [
    repeat('dispatch', dispatch),
    every(SWEEP_MS, 'sweep', async () => {
      await mapping.remind()
      await sweep()
    }),
    every(HOUSEKEEPING_MS, 'housekeeping', makeHousekeeping({ pool, binding, config, log, now })),
    every(PAUSING_MS, 'pace', makePausing(pace, probe, takingPart('pace'))),
    every(WITNESS_MS, 'witness', async () => {
      const error = await witness.step()
      if (error) fail(error)
    }),
    ...(reconciling ? [every(SCHEDULE_MS, 'schedule', reconciling.restore)] : []),
  ]
  return {
    /** Resolves when it must not go on. */
    failed,
    isActive: mapping.isActive,
    /**
     * Starts no further call, lets the running ones end, and after the deadline breaks them off: their outcome
     * is then recorded as unknown.
     */
    async stop(deadlineMs: number) {
      stopping.abort()
      const breakOff = setTimeout(() => abort.abort(), deadlineMs)
      const ended = consumer.close(deadlineMs + RECORD_MS).then(idle)
      await Promise.all([
        Promise.race([ended, sleep(deadlineMs + RECORD_MS)]),
        reconciling?.close(deadlineMs + RECORD_MS),
      ])
      clearTimeout(breakOff)
      // The claims of the last calls are kept where that is possible. The loops end meanwhile, unless a lock of
      // another process holds them up.
      const keepClaimed = async () => {
        await witness.step()
        await witness.step()
      }
      await Promise.race([Promise.all([...loops, keepClaimed().catch(() => undefined)]), sleep(RECORD_MS)])
      await calls.close()
    },
  }
}
