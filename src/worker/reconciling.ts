import { roleBehind } from '../database/pool.ts'
import type { JobQueue, Processed, Schedule } from '../dispatch/queue.ts'
import { makeChecking } from '../drift/checking.ts'
import { readNotCredible } from '../drift/coverage.ts'
import { makeScheduledRun, scheduleMs } from '../drift/scheduled.ts'
import type { CallEntry } from '../ledger/calls.ts'
import { nameOf } from '../model/name-of.ts'
import { type Log, recoveryLevel, troubleLevel } from '../ops/log.ts'
import { sleep } from '../ops/time.ts'
import { logChecks, makeReminder, TELL_AGAIN_MS } from './log.ts'
import type { Opened } from './open-sync.ts'
import type { Observing } from './ops.ts'
import { explained } from './waiting.ts'

type Options = {
  readonly opened: Opened
  readonly queue: Pick<JobQueue, 'schedule'>
  readonly log: Log
  readonly logCall: (entry: CallEntry) => void
  /** Breaks off the checks that are under way: a check that was not made changes nothing. */
  readonly signal: AbortSignal
  readonly watch: Observing['watchLoop'] | undefined
}

/** A job leaves the rest of its time to the one that comes after it. */
const LASTS = 0.9

/** Checks all customers within the period, over and over, together with the other workers; null: it is off. */
export async function startReconciling(options: Options): Promise<Schedule | null> {
  const { opened, queue, log, signal, watch } = options
  const { periodMs } = opened.context.config.reconcile
  if (periodMs === null) return null
  const checkSome = makeStep(options, periodMs)
  const step = watch?.('checks', checkSome) ?? checkSome
  let failed = 0
  const takeJob = async (): Promise<Processed> => {
    if (signal.aborted) return { failed: null }
    try {
      await step()
      if (failed > 0) log[recoveryLevel(failed)]('checks work again')
      failed = 0
      return { failed: null }
    } catch (error) {
      failed++
      const about = { failures: failed, ...explained(error, roleBehind(opened.pool)) }
      log[troubleLevel(failed)](about, 'a run of checks failed: the worker will retry it')
      return { failed: Object.values(nameOf(error)).join(' ') }
    }
  }
  const schedule = await queue.schedule(takeJob, { everyMs: scheduleMs(periodMs) })
  const isTime = makeReminder(TELL_AGAIN_MS, () => performance.now())
  return {
    async restore() {
      await schedule.restore()
      const notCredible = await readNotCredible(opened.pool)
      if (notCredible && isTime('notCredible'))
        log.error(
          notCredible,
          'the answers of the service are not credible: check SERVICE_URL; run `rollcall status`',
        )
    },
    close: schedule.close,
  }
}

/** The step is one scheduled run. */
function makeStep({ opened, log, logCall, signal }: Options, periodMs: number): () => Promise<boolean> {
  const { pool, context, pace, readCustomers, binding } = opened
  const { config } = context
  const say = logChecks(log)
  const checking = makeChecking({
    ...{ pool, readCustomers, context },
    log(entry: CallEntry) {
      say.call(entry)
      logCall(entry)
    },
    repair: config.reconcile.mode === 'repair',
  })
  const scheduledRun = makeScheduledRun({
    ...{ pool, binding, pace, fingerprint: config.fingerprint, periodMs },
    ...{ lastsMs: scheduleMs(periodMs) * LASTS, most: config.pace.concurrency },
    ...{ sleep, now: () => performance.now(), signal },
    async check(keys) {
      const batch = await checking.check(keys, signal)
      for (const each of batch.checked) say.checked(each)
      return batch
    },
  })
  return async () => {
    const end = await scheduledRun()
    log.debug({ end }, 'a run of checks ended')
    return end !== 'rest'
  }
}
