import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { openQueue } from '../dispatch/bullmq.ts'
import { installationName } from '../ledger/target.ts'
import { makeLog, makeQuiet } from '../ops/log.ts'
import { describeTarget } from '../service/target.ts'
import { openSync } from '../worker/context.ts'
import { logStep } from '../worker/log-step.ts'
import { describe, startWorker } from '../worker/worker.ts'
import type { AddCommand, Io } from './io.ts'
import { aborted } from './stop.ts'

/** Enough for running calls to end by themselves, and below the ten seconds after which supervisors kill. */
const DRAIN_MS = 7000

const EXAMPLES = `
Example:
  rollcall worker --config rollcall.config.ts

It runs until SIGTERM or SIGINT, then starts no further call and ends within ten seconds; a second signal ends
it at once, and what it had under way is looked up later. Several workers share the work and the pace.`

/** `rollcall worker`: the background process. */
export const workerCommand: AddCommand = (program, io) => {
  program
    .command('worker')
    .description('sync changes to the service, for as long as it runs')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .addHelpText('after', EXAMPLES)
    .action(({ config }: { config?: string }) => runWorker(io, config))
}

async function runWorker(io: Io, file: string | undefined): Promise<void> {
  const env = readEnv(io.env, {
    need: [
      'DATABASE_URL',
      'QUEUE_URL',
      'SERVICE_URL',
      'SERVICE_API_KEY',
      'SERVICE_SECRET_KEY',
      'ROLLCALL_DIGEST_KEY',
    ],
  })
  const config = await loadConfig(file, io.cwd)
  const log = makeLog(env.LOG_LEVEL)
  const opened = await openSync({
    config,
    env,
    onPoolError: (error) => log.debug(describe(error), 'an idle database connection was lost'),
  })
  try {
    for (const warning of opened.warnings) log.warn(warning)
    const queue = await openQueue({
      queueUrl: env.QUEUE_URL,
      name: await installationName(opened.pool),
      // The queue knows ids and tokens only, so its words can be shown.
      onError: makeQuiet(
        ({ message }, times) => log.warn({ error: message, times }, 'the queue has trouble'),
        () => performance.now(),
      ),
    })
    try {
      const observers = {
        onCaptured: (changes: number) => log.debug({ changes }, 'captured'),
        onStep: logStep(log),
      }
      const worker = await startWorker({ opened, queue, log, observers })
      log.info(
        { target: describeTarget(env.SERVICE_URL, config), pace: config.pace.ceiling },
        'the worker runs',
      )
      await aborted(io.stop)
      log.info('stopping: running calls may end, no further one is started')
      await worker.stop(DRAIN_MS)
    } finally {
      await queue.close()
    }
  } finally {
    await opened.close()
  }
  log.info('stopped')
}
