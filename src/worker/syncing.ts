// Connects the steps of a change, from the outbox to the ending. A loop of worker.ts runs `dispatch`.
import { claimLastsMs } from '../config/config.ts'
import { roleBehind } from '../database/pool.ts'
import { makeDispatch } from '../dispatch/dispatch.ts'
import type { JobQueue } from '../dispatch/queue.ts'
import { makeTakeJobs } from '../dispatch/take-jobs.ts'
import type { CallLog } from '../ledger/call-log.ts'
import { makeClaim } from '../ledger/claim.ts'
import { makeStoreEnding } from '../ledger/ending.ts'
import { makeUnlease } from '../ledger/lease.ts'
import { type Log, makeQuiet } from '../ops/log.ts'
import { systemClock } from '../ops/time.ts'
import { BrokenOff, makeSyncLease, type SyncLeaseOptions } from '../sync/run.ts'
import { FINDING_CLOSED, logCalls } from './log.ts'
import type { MappingWatch } from './mapping-watch.ts'
import type { Opened } from './open-sync.ts'
import { explained } from './waiting.ts'
import { startWitness } from './witness.ts'

type Options = Pick<SyncLeaseOptions, 'stopping' | 'abort'> & {
  readonly opened: Opened
  readonly queue: JobQueue
  readonly log: Log
  readonly calls: Pick<CallLog, 'add'>
  readonly mapping: MappingWatch
  readonly onStep: SyncLeaseOptions['observe']
}

/** Jobs that a process has at once: the next one is there when the first is begun. */
const JOBS = 2

export async function startSyncing(options: Options) {
  const { opened, queue, log, calls, mapping, onStep, stopping, abort } = options
  const { pool, context, pace, binding, drain } = opened
  const { fingerprint, timing, pace: paced } = context.config
  const now = systemClock.monotonic
  const witness = await startWitness(pool, queue.witness)

  // From the outbox to the queue. `drain` takes rows of the outbox and notes their customers.
  const dispatch = makeDispatch({
    ...{ pool, queue, drain, now, fingerprint, binding },
    ...{ queueLeaseMs: timing.queueLeaseMs, concurrency: paced.concurrency, pace: pace.rate },
    onMapping: mapping.onMapping,
  })

  // From the queue to the ending.
  const claimRow = makeClaim(pool, { lastsMs: claimLastsMs(context.config), binding, fingerprint })
  const storeRow = makeStoreEnding(pool, timing.gapMs, (closed) => log.info(closed, FINDING_CLOSED))
  const logCall = logCalls(calls)
  const syncLease = makeSyncLease({
    ...{ context, clock: systemClock, stopping, abort },
    async storeEnding(ending) {
      const counts = await storeRow(ending)
      if (!counts && ending.writes !== 'none')
        log.warn(
          { customer: ending.claim.key },
          'a sync ended too late, so its result does not count: a GET looks up the user',
        )
      return counts
    },
    async claimLease(lease) {
      const claim = await claimRow(lease)
      if (claim) witness.claimed(claim.token)
      return claim
    },
    observe(key, step, claim) {
      logCall(key, step)
      onStep(key, step, claim)
    },
  })
  const giveBack = makeUnlease(pool)
  const { takeJob, idle } = makeTakeJobs({
    concurrency: paced.concurrency,
    async carryOut(lease, begun) {
      // An unclaimed lease would wait for its end, although another process could go on at once.
      // plain: syncLease
      const ended = stopping.aborted || (await mapping.isRefused()) ? null : await syncLease(lease, begun)
      if (!ended) await giveBack(lease)
    },
    onError: makeQuiet<unknown>((error, times) => {
      const [who, cause] =
        error instanceof BrokenOff ? [{ customer: error.customer }, error.cause] : [{}, error]
      log.warn(
        { ...who, ...explained(cause, roleBehind(pool)), times },
        'an error interrupted the sync of a customer: a worker will retry it if it is still owed',
      )
    }, now),
  })
  const consumer = await queue.consume(takeJob, { concurrency: JOBS })
  return { dispatch, consumer, idle, witness }
}
