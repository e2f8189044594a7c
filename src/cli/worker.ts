import { readEnv, secretsOf } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { makeLog } from '../ops/log.ts'
import { SYNC_ENV } from './binding.ts'
import { type AddCommand, type Io, VERSION } from './io.ts'
import { CONFIG_OPTION } from './option-values.ts'

const EXAMPLES = `
Example:
  rollcall worker --config rollcall.config.ts

If the database, the queue or the service is down, the worker waits for it. At
SIGTERM or SIGINT it starts no further call, and ends within ten seconds. A
second signal ends it immediately. If this interrupts calls, a worker later
looks up the users of these calls. Several workers share the work and the rate
limit.`

export const workerCommand: AddCommand = (program, io) => {
  program
    .command('worker')
    .option(...CONFIG_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(({ config }) => start(io, config))
}

/** Libraries that take long to load come after the first line of the log. */
async function start(io: Io, file: string | undefined): Promise<void> {
  const env = readEnv(io.env, { need: ['QUEUE_URL', ...SYNC_ENV], may: ['OPS_HOST', 'OPS_PORT'] })
  const config = await loadConfig(file, io.cwd)
  const log = makeLog(env.LOG_LEVEL, {
    hideKeysBy: env.LOG_KEYS === 'hidden' ? env.ROLLCALL_DIGEST_KEY : undefined,
    secrets: secretsOf(env),
  })
  log.info({ version: VERSION }, 'starting')
  const { runWorker } = await import('./worker-run.ts')
  await runWorker(io, { env, config, log })
}
