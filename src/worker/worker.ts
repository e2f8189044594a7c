import { outboxSource } from '../capture/outbox.ts'
import { makePump } from '../dispatch/pump.ts'
import type { JobQueue, Ticks } from '../dispatch/queue.ts'
import { makeSlots } from '../dispatch/slots.ts'
import { makeCallLog } from '../ledger/call-log.ts'
import type { CallEntry } from '../ledger/calls.ts'
import { makeClaim } from '../ledger/claim.ts'
import { makeEnd } from '../ledger/ending.ts'
import { makeUnlease } from '../ledger/lease.ts'
import type { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { type Log, makeQuiet } from '../ops/log.ts'
import { processName } from '../ops/process-name.ts'
import { sleep, systemClock } from '../ops/time.ts'
import { currentRate } from '../pace/row.ts'
import { type JobOptions, makeJob } from '../sync/job.ts'
import { claimLastsMs } from '../sync/time-needed.ts'
import { logCalls } from './call-entry.ts'
import type { Opened } from './context.ts'
import { makeHousekeeping } from './housekeeping.ts'
import { makeLoops } from './loops.ts'
import type { Measuring } from './measuring.ts'
import { makeNoting } from './noting.ts'
import { makePausing } from './pausing.ts'
import { startReconciling } from './reconciling.ts'
import { makeStanding } from './standing.ts'
import { makeSweeping } from './sweeping.ts'
import { makeTakingPart } from './taking-part.ts'
import { startWitness } from './witness.ts'

export type Observers = {
  readonly onCaptured: (changes: number) => void
  readonly onStep: JobOptions['observe']
  /** Sees each call of verification. */
  readonly onLook?: Measuring['observers']['onLook']
  /** Sees each step of the loops. */
  readonly watchLoop?: Measuring['observers']['watchLoop']
}

export type RunningWorker = {
  /** Resolves when it must not go on. */
  readonly failed: Promise<RollcallError>
  /** Whether syncs go by this worker's mapping. */
  readonly takesPart: () => boolean
  /**
   * Starts no further call, lets the running ones end, and after the deadline breaks them off: their outcome
   * is then recorded as unknown.
   */
  stop(deadlineMs: number): Promise<void>
}

type Options = {
  readonly opened: Opened
  readonly queue: JobQueue
  readonly log: Log
  readonly observers: Observers
}

/** After breaking off, this long is left to record what became of the calls. */
const RECORD_MS = 1000
const HOUSEKEEPING_MS = 5000
const SWEEP_MS = 1000
/** While some claims wait for Postgres, others call. */
const CLAIMS_A_CALL = 2
/** Pages that a process has at once: the next one is there when the first is begun. */
const PAGES = 2
const PAUSING_MS = 500
const WITNESS_MS = 1000
/** How often it is looked whether the queue still has the schedule of verification. */
const SCHEDULE_MS = 10_000

/** Starts the background process: the pump that feeds the queue, the jobs, and the housekeeping. */
export async function startWorker({ opened, queue, log, observers }: Options): Promise<RunningWorker> {
  const { pool, context } = opened
  const { timing, pace } = context.config
  const witness = await startWitness(pool, queue.witness)
  const { promise: failed, resolve: fail } = Promise.withResolvers<RollcallError>()
  const stopping = new AbortController()
  const abort = new AbortController()
  const calls = makeCallLog({
    pool,
    by: processName('worker'),
    sleep,
    onTrouble: (trouble) => {
      if ('error' in trouble)
        log.warn(nameOf(trouble.error), 'the log of calls cannot be written and will be tried again')
      else log.warn({ calls: trouble.dropped }, 'so many calls are missing in the log of calls')
    },
  })
  const logCall = logCalls(calls, systemClock.wall)
  const claim = makeClaim(pool, {
    lastsMs: claimLastsMs(context.config),
    binding: opened.binding,
    fingerprint: context.config.fingerprint,
  })
  const job = makeJob({
    context,
    claim: async (lease) => {
      const claimed = await claim(lease)
      if (claimed) witness.claimed(claimed.token)
      return claimed
    },
    end: makeEnd(pool),
    clock: systemClock,
    stopping: stopping.signal,
    abort: abort.signal,
    observe: (key, step, claim) => {
      logCall(key, step)
      observers.onStep(key, step, claim)
    },
  })
  const standing = makeStanding({
    pool,
    config: context.config,
    log,
    now: () => performance.now(),
  })
  const sweeping = makeSweeping({
    pool,
    config: context.config,
    digester: context.digester,
    log,
    signal: stopping.signal,
  })
  const giveBack = makeUnlease(pool)
  const slots = makeSlots({
    most: CLAIMS_A_CALL * pace.concurrency,
    async carryOut(lease, begun) {
      const refused = !standing.takesPart() && (await standing.isRefused())
      // What is not claimed would wait for the end of its lease, where another process could go on at once.
      if (stopping.signal.aborted || refused || !(await job(lease, begun))) await giveBack(lease)
    },
    onError: makeQuiet<unknown>(
      (error, times) =>
        log.warn({ ...nameOf(error), times }, 'a customer will be taken up again: its sync broke off'),
      () => performance.now(),
    ),
  })
  const pump = makePump({
    pool,
    queue,
    source: outboxSource(pool),
    note: makeNoting(context.config),
    queueLeaseMs: timing.queueLeaseMs,
    pace: () => currentRate(pool, opened.credentials),
    concurrency: pace.concurrency,
    now: () => performance.now(),
    onCaptured: observers.onCaptured,
    fingerprint: context.config.fingerprint,
    binding: opened.binding,
    onStanding: standing.turn,
  })
  const { repeat, every } = makeLoops({ log, signal: stopping.signal, watch: observers.watchLoop })
  const consumer = await queue.consume(slots.take, { concurrency: PAGES })
  const takingPart = makeTakingPart(consumer)
  const addCall = (entry: CallEntry) => calls.add(entry)
  let reconciling: Ticks | null
  try {
    await standing.start(takingPart('mapping'), opened.standing)
    const { watchLoop: watch } = observers
    const logCall = (entry: CallEntry) => {
      addCall(entry)
      observers.onLook?.(entry)
    }
    reconciling = await startReconciling({ opened, queue, log, logCall, signal: stopping.signal, watch })
  } catch (error) {
    stopping.abort()
    await Promise.allSettled([consumer.close(RECORD_MS), calls.close()])
    throw error
  }
  const pausing = makePausing({
    ...{ opened, log, signal: stopping.signal, consumer: takingPart('pace') },
    logCall: addCall,
  })
  const housekeep = makeHousekeeping({
    pool,
    binding: opened.binding,
    config: context.config,
    log,
    now: () => performance.now(),
  })
  const askWitness = async () => {
    const error = await witness.step()
    if (error) fail(error)
  }
  const loops = [
    repeat('dispatch', pump),
    every(SWEEP_MS, 'sweep', async () => {
      await standing.remind()
      await sweeping()
    }),
    every(HOUSEKEEPING_MS, 'housekeeping', housekeep),
    every(PAUSING_MS, 'pace', pausing),
    every(WITNESS_MS, 'witness', askWitness),
    ...(reconciling ? [every(SCHEDULE_MS, 'schedule', reconciling.tend)] : []),
  ]
  return {
    failed,
    takesPart: standing.takesPart,
    async stop(deadlineMs) {
      stopping.abort()
      const breakOff = setTimeout(() => abort.abort(), deadlineMs)
      await Promise.all([
        consumer.close(deadlineMs + RECORD_MS),
        Promise.race([slots.idle(), sleep(deadlineMs + RECORD_MS)]),
        reconciling?.close(deadlineMs + RECORD_MS),
      ])
      clearTimeout(breakOff)
      // With the last call made; the loops end meanwhile, unless a lock of somebody else holds them up. What the last
      // calls have claimed is kept where that is possible.
      const ends = [
        ...loops,
        witness
          .step()
          .then(() => witness.step())
          .catch(() => undefined),
      ]
      await Promise.race([Promise.all(ends), sleep(RECORD_MS)])
      await calls.close()
    },
  }
}
