// Everything that the demo needs, started in the order of the README: database, tables, migrations, capture,
// the service's stand-in, queue, worker.
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { install } from '../capture/install.ts'
import { planCapture } from '../capture/relations.ts'
import type { Config } from '../config/config.ts'
import { resolveConfig } from '../config/resolve.ts'
import { makePool } from '../database/pool.ts'
import { databaseAt } from '../database/session.ts'
import { openQueue } from '../dispatch/bullmq.ts'
import { startPostgres } from '../embedded/postgres.ts'
import { migrate } from '../ledger/migrate.ts'
import { installationName } from '../ledger/target.ts'
import { makeLog } from '../ops/log.ts'
import { type Sandbox, startSandbox } from '../sandbox/server.ts'
import { openSync, type Secrets } from '../worker/context.ts'
import { startWorker } from '../worker/worker.ts'
import type { Meter } from './meter.ts'
import { observeWorker } from './observe.ts'
import demoConfig from './rollcall.config.ts'
import { SCHEMA } from './story.ts'

/** The settings that a rollcall command takes from the environment. */
type DemoEnv = Secrets & { readonly QUEUE_URL: string }

export type Demo = {
  /** The shop's own connections. */
  readonly pool: Pool
  readonly sandbox: Sandbox
  readonly config: Config
  readonly configFile: string
  readonly env: DemoEnv
}

type Options = {
  /** Stops everything in the opposite order. */
  readonly stack: AsyncDisposableStack
  readonly now: () => number
  /** Announces the next step. */
  readonly say: (step: string) => void
  readonly meter: Meter
  readonly stop: AbortSignal
}

const DRAIN_MS = 2000
const CONFIG_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './rollcall.config.ts' : './rollcall.config.js', import.meta.url),
)

/** @throws the signal's reason when it is aborted between two steps */
export async function openDemo({ stack, now, say, meter, stop }: Options): Promise<Demo> {
  const config = resolveConfig(demoConfig, CONFIG_FILE, 'src/demo/rollcall.config.ts')
  say('Starting an embedded Postgres in a temporary folder')
  const server = await startPostgres()
  stack.defer(() => server.stop())
  stop.throwIfAborted()

  say("Creating the shop's tables, rollcall's own, the queue's, and the triggers")
  const pool = makePool({ url: server.url, max: 4, applicationName: 'shop', onError: () => undefined })
  stack.defer(() => pool.end())
  await pool.query(SCHEMA)
  await migrate(databaseAt(server.url), { queue: databaseAt(server.url) })
  const client = await pool.connect()
  await install(client, await planCapture(client, config)).finally(() => client.release())
  stop.throwIfAborted()

  say('Starting the sandbox, the queue (BullMQ on Postgres) and a worker')
  const keys = { SERVICE_API_KEY: secret(), SERVICE_SECRET_KEY: secret(), ROLLCALL_DIGEST_KEY: secret() }
  const sandbox = await startSandbox({ apiKey: keys.SERVICE_API_KEY, secretKey: keys.SERVICE_SECRET_KEY })
  stack.defer(() => sandbox.stop())
  const env = { DATABASE_URL: server.url, QUEUE_URL: server.url, SERVICE_URL: sandbox.url, ...keys }
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  stack.defer(() => opened.close())
  const name = await installationName(opened.pool)
  const queue = await openQueue({ queueUrl: env.QUEUE_URL, name, onError: () => undefined })
  stack.defer(() => queue.close())
  const observers = observeWorker({ sandbox, now, meter })
  const worker = await startWorker({ opened, queue, log: makeLog('silent'), observers })
  stack.defer(() => worker.stop(DRAIN_MS))
  return { pool, sandbox, config, configFile: CONFIG_FILE, env }
}

function secret(): string {
  return randomBytes(24).toString('base64url')
}
