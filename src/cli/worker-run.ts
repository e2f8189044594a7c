import process from 'node:process'
import { addressOf } from '../config/address.ts'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import { knock, roleBehind } from '../database/pool.ts'
import { databaseAt, roleOf } from '../database/session.ts'
import { openQueue } from '../dispatch/bullmq.ts'
import { reachable } from '../ledger/reachable.ts'
import { checkRights } from '../ledger/readable.ts'
import { installationName } from '../ledger/target.ts'
import type { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { renderService } from '../model/service.ts'
import { type Log, makeQuiet } from '../ops/log.ts'
import { opsAddress } from '../ops/server.ts'
import { sleep } from '../ops/time.ts'
import { namedService } from '../service/address.ts'
import { logPace, logStep, tellMisfits } from '../worker/log.ts'
import { openSync } from '../worker/open-sync.ts'
import { openOps, type WorkerOps } from '../worker/ops.ts'
import { whenUp } from '../worker/waiting.ts'
import { type Observers, startWorker } from '../worker/worker.ts'
import type { SYNC_ENV } from './binding.ts'
import { aborted, type Io } from './io.ts'

/** Enough for running calls to end by themselves, and below the ten seconds after which supervisors kill. */
const DRAIN_MS = 7000
/** After this it ends, even without an answer: as after a kill, what it had under way is looked up later. */
const END_MS = 9500

type Starting = {
  readonly env: Env<'QUEUE_URL' | (typeof SYNC_ENV)[number], 'OPS_HOST' | 'OPS_PORT'>
  readonly config: Config
  readonly log: Log
}

export async function runWorker(io: Io, { env, config, log }: Starting): Promise<void> {
  const ops = await openOps({
    address: opsAddress(env),
    databaseUrl: env.DATABASE_URL,
    periodMs: config.reconcile.periodMs,
    log,
    now,
  })
  try {
    // All of it or nothing: it waits for a server that is away, and begins anew.
    const waiting = { stop: io.stop, sleep, now, tell: tellAway }
    const running = await whenUp(start, waiting)
    if (running) await runUntilStopped(running)
  } finally {
    await ops.close()
  }
  log.info('stopped')

  /** A server that is away leaves nothing open. */
  async function start() {
    const role = roleOf(databaseAt(env.DATABASE_URL))
    await reachable(() => knock(env.DATABASE_URL, io.stop), { role })
    const stack = new AsyncDisposableStack()
    const observers = observe(log, ops.observers)
    try {
      const opened = await openSync({
        config,
        env,
        onPoolError: (error) => log.debug(nameOf(error), 'an idle database connection was lost'),
        onMisfits: tellMisfits(log, now),
        onPace(event) {
          logPace(log)(event)
          ops.observers.onPace(event)
        },
        onCaptured: observers.onCaptured,
      })
      stack.defer(() => opened.close())
      await reachable(() => checkRights(opened.pool, role), { role })
      const queue = await openQueue({
        queueUrl: env.QUEUE_URL,
        name: await reachable(() => installationName(opened.pool), { role }),
        // The queue knows ids and tokens only, so its words can be shown.
        onError: makeQuiet(
          ({ message }, times) => log.warn({ error: message, times }, 'the queue reports an error'),
          now,
        ),
      })
      stack.defer(() => queue.close())
      const worker = await reachable(() => startWorker({ opened, queue, log, observers }), {
        role: roleBehind(opened.pool),
      })
      return { opened, queue, worker, stack }
    } catch (error) {
      await stack.disposeAsync().catch(() => undefined) // what ended it is reported
      throw error
    }
  }

  async function runUntilStopped({ opened, queue, worker, stack }: Awaited<ReturnType<typeof start>>) {
    let late: NodeJS.Timeout | undefined
    try {
      for (const warning of opened.warnings) log.warn(warning)
      ops.runs({ queue, isActive: worker.isActive })
      const target = renderService(namedService(env.SERVICE_URL, config))
      log.info({ target }, 'the worker runs')
      const failure = await Promise.race([aborted(io.stop).then(() => null), worker.failed])
      if (failure)
        log.error(
          { code: failure.code, reason: failure.details.join('; ') },
          'this worker must stop: "reason" says why. Correct that, then start it again',
        )
      log.info('stopping: running calls may finish, no new call starts')
      late = setTimeout(() => process.exit(failure?.exitCode ?? 0), END_MS)
      await worker.stop(DRAIN_MS)
      if (failure) throw failure
    } finally {
      await stack.disposeAsync()
      clearTimeout(late)
    }
  }

  /** Host and port only; what Postgres and Redis say of themselves while they start or stop holds no value. */
  function tellAway({ code, details }: RollcallError): void {
    const [what, url] = code === 'QUEUE_DOWN' ? ['queue', env.QUEUE_URL] : ['database', env.DATABASE_URL]
    const about = { server: addressOf(url)?.server, code, reason: details.join('; ') }
    log.warn(about, `the ${what} does not answer yet: the worker waits for it`)
  }
}

const now = () => performance.now()

function observe(log: Log, measuring: WorkerOps['observers']): Observers {
  const say = logStep(log)
  return {
    ...measuring,
    onCaptured(changes) {
      log.debug({ changes }, 'captured')
      measuring.onCaptured(changes)
    },
    onStep(key, step, claim) {
      say(key, step, claim)
      measuring.onStep(key, step)
    },
  }
}
