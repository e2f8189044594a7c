import type { JobQueue } from '../dispatch/queue.ts'
import type { CallEntry } from '../ledger/calls.ts'
import { REASON_CODES } from '../ledger/reason.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { type LoopStep, makeLately, makeLoopHealth, makeReadiness } from '../ops/health.ts'
import type { Log } from '../ops/log.ts'
import { makeMetrics } from '../ops/metrics.ts'
import { type OpsAddress, startOps } from '../ops/server.ts'
import type { PaceEvent } from '../pace/events.ts'
import { callEntry } from '../sync/call.ts'
import type { Method, ReadMeaning, WriteMeaning } from '../sync/classify.ts'
import type { SyncStep } from '../sync/context.ts'
import { openTables, showTables, type Tables } from './tables.ts'

const PARTS = {
  postgres: 'Postgres at DATABASE_URL does not answer',
  queue: 'the queue at QUEUE_URL does not answer',
  mapping:
    'this worker syncs nothing, because its mapping or target is not active: see its log and `rollcall status`',
} as const

type Options = {
  /** Null: nothing listens, and observations go nowhere. */
  readonly address: OpsAddress | null
  readonly databaseUrl: string
  readonly periodMs: number | null
  readonly log: Pick<Log, 'info' | 'warn' | 'debug'>
  readonly now: () => number
}

/** `isActive`: whether this worker's mapping is active. */
type Running = { readonly queue: Pick<JobQueue, 'count'>; readonly isActive: () => boolean }

export type WorkerOps = Awaited<ReturnType<typeof openOps>>

/**
 * Opened before anything that may have to be waited for, so that a waiting worker can be seen, and closed last.
 *
 * @throws RollcallError OPS_PORT_TAKEN
 */
export async function openOps({ address, databaseUrl, periodMs, log, now }: Options) {
  const tables = openTables({
    ...{ url: databaseUrl, periodMs },
    onPoolError: (error) => log.debug(nameOf(error), 'a database connection of the metrics was lost'),
  })
  const { observers, health, text } = makeMeasuring(now, tables.read, log)
  if (!address) return { url: null, observers, runs: (_: Running) => {}, close: async () => {} }
  const ready = makeReadiness<keyof typeof PARTS>({
    ...{ parts: PARTS, now },
    onTrouble: (part, error) => log.debug({ part, ...nameOf(error) }, 'not ready'),
  })
  ready.watch('postgres', tables.ping)
  const { byDefault, host, port } = address
  const listen = (at: number) =>
    startOps({ host, port: at, health, readiness: ready.readiness, metrics: text, log })
  const ops = await listen(port).catch((error: unknown) => {
    // The default port may be taken by another worker on this machine; then any free one will do.
    if (!byDefault || !(error instanceof RollcallError) || error.code !== 'OPS_PORT_TAKEN') throw error
    return listen(0)
  })
  if (byDefault && new URL(ops.url).port !== String(port))
    log.warn(
      { taken: port, url: ops.url },
      'another program uses the default port for health and metrics: set OPS_PORT to choose one',
    )
  return {
    url: ops.url,
    observers,
    /** Until then it is not ready. */
    runs({ queue, isActive }: Running): void {
      ready.watch('queue', async () => (await queue.count()) >= 0)
      ready.watch('mapping', async () => isActive())
    },
    async close() {
      await ops.close()
      await tables.close()
    },
  }
}

/**
 * How long a step of a loop may take. The dispatch has short steps and many; the others may check every customer in one
 * step, or wait for the service.
 */
const LOOP_LIMITS_MS = { dispatch: 60_000 }
const LOOPS = {
  loop: ['checks', 'dispatch', 'housekeeping', 'pace', 'schedule', 'sweep', 'witness'] as const,
}
export type LoopName = (typeof LOOPS.loop)[number]

// Every value that a label can have: no key and no value of a customer can become one.
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH']
const MEANINGS: readonly (WriteMeaning | ReadMeaning)[] = [
  'done',
  'unclear',
  'refused',
  'denied',
  'absent',
  'later',
  'not-sent',
  'unknown',
  'present',
  'failed',
] as const
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'none']
const END_KINDS = ['settled', 'rejected', 'held', 'discarded', 'retry', 'unknown']
/** From a call that stays on the machine to one that is given up; seconds. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * Limits on reading the tables: not again sooner than after this, nor before twenty times what it took (a large ledger is read
 * as a whole). A scrape waits for them no longer than its deadline, well below Prometheus' ten seconds.
 */
const TABLES = { keepMs: 5000, restTimes: 20, deadlineMs: 2500, staleMs: 30_000 }

type MeasuredCall = Pick<CallEntry, 'method' | 'meaning' | 'status' | 'ms'>

export type Observing = ReturnType<typeof makeMeasuring>['observers']

function makeMeasuring(now: () => number, readTables: () => Promise<Tables>, log: Pick<Log, 'debug'>) {
  const metrics = makeMetrics({ process: true })
  const { counter, gauge, histogram } = metrics
  const calls = counter(
    'calls_total',
    'Calls by method, meaning of the answer, and HTTP status class; status none: no answer came',
    { method: METHODS, meaning: MEANINGS, status: STATUS_CLASSES },
  )
  const timed = 'Duration of calls in seconds, answered or not'
  const duration = histogram('call_duration_seconds', timed, { method: METHODS }, BUCKETS)
  const reason = ['none', ...REASON_CODES]
  const endings = counter(
    'endings_total',
    'Ended claims (attempts to sync a customer), by result and reason',
    { kind: END_KINDS, reason },
  )
  const captured = counter('captured_changes_total', 'Changes that this worker has taken from the outbox', {})
  const failures = counter('loop_failures_total', 'Steps of a loop that failed; the loop retries them', LOOPS)
  const silent = gauge('loop_silent_seconds', 'Seconds since the loop last completed a step', LOOPS)
  const refusal = '1: the service refuses the keys of this worker, so it makes only probes (test calls)'
  const refused = gauge('keys_refused', refusal, {})
  refused({}, 0)
  const tablesUp = gauge(
    'tables_up',
    '0: the worker cannot read its tables in Postgres, so the metrics that need them are missing',
    {},
  )
  const countCall = ({ method, meaning, status, ms }: MeasuredCall): void => {
    const statusClass = status === null ? 'none' : `${Math.floor(status / 100)}xx`
    calls({ method, meaning, status: statusClass }, 1)
    duration({ method }, ms / 1000)
  }
  const loops = makeLoopHealth<LoopName>({ limits: LOOP_LIMITS_MS, now })
  const tables = makeLately({
    ...{ ask: readTables, ...TABLES, now },
    onTrouble: (error) => log.debug(nameOf(error), 'the tables could not be read for metrics'),
  })

  return {
    /** Observers of the worker; `onStep` takes names, codes and times of a step, and no key. */
    observers: {
      onCaptured: (changes: number) => captured({}, changes),
      onStep(key: CustomerKey, step: SyncStep): void {
        if (step.step === 'answered') countCall(callEntry({ key, ...step }))
        else if (step.step === 'ended') {
          const { end } = step
          const state = end.kind === 'settle' ? end.state : end.kind
          endings({ kind: state === 'idle' ? 'settled' : state, reason: end.reason?.code ?? 'none' }, 1)
        }
      },
      onCheck: countCall,
      onPace({ kind }: Pick<PaceEvent, 'kind'>): void {
        if (kind === 'refused' || kind === 'taken') refused({}, kind === 'refused' ? 1 : 0)
      },
      watchLoop(loop: LoopName, step: LoopStep): LoopStep {
        failures({ loop }, 0)
        return loops.watch(loop, step, () => failures({ loop }, 1))
      },
    },
    health: () => loops.health(),
    /** Prometheus text; never fails for want of the tables. */
    async text() {
      const read = await tables()
      tablesUp({}, read ? 1 : 0)
      for (const [loop, ms] of loops.silent()) silent({ loop }, ms / 1000)
      const own = await metrics.text()
      return read ? own + (await showTables(read)) : own
    },
  }
}
