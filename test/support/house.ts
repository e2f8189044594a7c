// A whole rollcall for a test: a database with customers, the sandbox over HTTP, a queue, and a worker.
import { type Logger, pino } from 'pino'
import { grantsScript } from '../../src/cli/grants.ts'
import type { Config } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import { installationName } from '../../src/ledger/target.ts'
import type { ContractInput } from '../../src/sandbox/contract/contract.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { openSync } from '../../src/worker/open-sync.ts'
import { type Observers, startWorker } from '../../src/worker/worker.ts'
import { urlOf } from './administer.ts'
import { atRest } from './at-rest.ts'
import { freshDatabase, type TestDatabase, type TestRole } from './database.ts'
import { installCapture } from './install.ts'
import type { QueueLane } from './lanes.ts'
import { moved } from './progress.ts'

export const SECRETS = {
  SERVICE_API_KEY: 'test-api-key',
  SERVICE_SECRET_KEY: 'test-secret-key',
  ROLLCALL_DIGEST_KEY: 'test-digest-key-of-thirty-two-chars',
}

/** Customers with every field of section 2.6, in columns with other names. */
export const CUSTOMERS = `
CREATE TABLE clientes (
  id text PRIMARY KEY,
  plan text NOT NULL,
  correo text, dni text, nombre text, apellidos text, sexo text, nacido date, movil text, prefijo text,
  cobertura text, contrato text, idioma text, notas text, pais text, grupo text, grupo_medico text,
  interno text
)`

const TIMING = {
  ...{ gapMs: 50, lifetimeMs: 3000, queueLeaseMs: 1500, consistencyDelayMs: 0 },
  ...{ retryMinMs: 50, retryMaxMs: 400 },
}

/** The usual times of a test, with these changes. */
export const timed = (changes: Partial<typeof TIMING> = {}) => ({
  advanced: { timing: { ...TIMING, ...changes } },
})

export const CONFIG: RollcallConfig = {
  customers: { table: 'public.clientes', key: 'id' },
  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { free: 0, premium: 2, trial: 4 } },
    email: 'correo',
    nid_number: 'dni',
    first_name: 'nombre',
    last_name: 'apellidos',
    gender: { column: 'sexo', values: { h: 0, m: 1 } },
    birthdate: 'nacido',
    mobile_phone: 'movil',
    mobile_phone_prefix: 'prefijo',
    coverage_name: 'cobertura',
    contract_number: 'contrato',
    service_language_code: 'idioma',
    description: 'notas',
    country_code: 'pais',
    ml_group_name: 'grupo',
    md_group_name: 'grupo_medico',
  },
  service: { timeoutMs: 1000 },
  pace: { ceiling: 500, concurrency: 20 },
  ...timed(),
  // Most tests count calls; those of verification set a period.
  reconcile: { period: false },
}

/** No answer comes too late on a busy machine, for tests that count calls. */
export const PATIENT = {
  service: { timeoutMs: 8000 },
  ...timed({ lifetimeMs: 20_000, queueLeaseMs: 20_000 }),
}

export type House = AsyncDisposable & {
  /** As the owner of everything. */
  readonly db: TestDatabase
  /** As that owner. */
  readonly sql: TestDatabase['sql']
  readonly sandbox: Sandbox
  readonly config: Config
  /** Declarative only, so that it can be written as JSON. */
  readonly authored: RollcallConfig
  /** As the worker's role, which may do what `rollcall grants` prints and nothing else. */
  readonly env: Readonly<Record<string, string>>
  /** As the owner. */
  readonly queueUrl: string
  /** Starts one more worker; several share the work. */
  startWorker(observers?: Partial<Observers>, keys?: Partial<typeof SECRETS>): Promise<Worker>
  /** Nothing in the outbox, nothing owed, nothing unknown. */
  settled(): Promise<void>
  /** Sends a statement, and waits until nothing is owed any more. */
  settle(sql: string, values?: unknown[]): Promise<void>
  /** Method and parsed body of every call so far, optionally of one user. */
  calls(userId?: string): readonly { readonly method: string; readonly body: unknown }[]
}

export type Worker = { stop(deadlineMs?: number): Promise<void> }

type Options = {
  readonly config?: Partial<RollcallConfig>
  readonly sql?: string
  readonly serviceUrl?: string
  readonly contract?: ContractInput
}

export async function buildHouse(lane: QueueLane, options: Options = {}): Promise<House> {
  const release: (() => Promise<unknown>)[] = []
  const authored: RollcallConfig = { ...CONFIG, ...options.config }
  const config = resolveConfig(authored, 'rollcall.config.ts')
  usual ??= makeCustomers(await freshDatabase(), CUSTOMERS, resolveConfig(CONFIG, 'rollcall.config.ts'))
  const { customers, mapping, scope, watch, advanced } = { ...options.config }
  const changed = options.sql ?? customers ?? mapping ?? scope ?? watch ?? advanced?.capture
  const { db, role } = changed
    ? await makeCustomers(await freshDatabase(), options.sql ?? CUSTOMERS, config)
    : await copyOf(await usual)
  release.push(() => db.drop())
  const sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
    ...(options.contract ? { contract: options.contract } : {}),
  })
  release.push(() => sandbox.stop())
  const queueUrl = await lane.queueUrl(db)
  // The queue in a database has a name of its own.
  if (queueUrl === db.url) await grant(db, role, config)
  const env = {
    ...SECRETS,
    DATABASE_URL: role.url,
    MIGRATE_DATABASE_URL: db.url,
    QUEUE_URL: queueUrl === db.url ? role.url : queueUrl,
    SERVICE_URL: options.serviceUrl ?? sandbox.url,
  }

  return {
    db,
    sql: db.sql,
    sandbox,
    config,
    authored,
    env,
    queueUrl,
    async startWorker(observers = {}, keys = {}) {
      const log = pino({ level: process.env.TEST_LOG ?? 'silent' })
      const worker = await openWorker({ config, env: { ...env, ...keys }, log, observers })
      release.push(() => worker.stop())
      return worker
    },
    settled: () => atRest(db.pool),
    async settle(sql, values) {
      await db.sql(sql, values)
      await atRest(db.pool)
    },
    calls: (userId) =>
      sandbox.journal
        .list(userId === undefined ? {} : { userId })
        .map(({ method, body }) => ({ method, body })),
    async [Symbol.asyncDispose]() {
      for (const each of release.reverse()) await each()
    },
  }
}

/** With a worker. */
export async function workingHouse(lane: QueueLane, options: Options = {}): Promise<House> {
  await using stack = new AsyncDisposableStack()
  const house = stack.use(await buildHouse(lane, options))
  await house.startWorker()
  stack.move()
  return house
}

type OpenOptions = {
  readonly config: Config
  readonly env: Parameters<typeof openSync>[0]['env'] & { readonly QUEUE_URL: string }
  readonly log: Logger
  readonly observers?: Partial<Observers>
}

/** A worker in this process, which moves what waits (progress.ts). */
export async function openWorker({ config, env, log, observers = {} }: OpenOptions): Promise<Worker> {
  const moving: Observers = {
    ...observers,
    onCaptured(changes) {
      moved()
      observers.onCaptured?.(changes)
    },
    onStep(...step) {
      moved()
      observers.onStep?.(...step)
    },
  }
  const opened = await openSync({ config, env, onPoolError: () => undefined, onCaptured: moving.onCaptured })
  const name = await installationName(opened.pool)
  const queue = await openQueue({ queueUrl: env.QUEUE_URL, name, onError: () => undefined })
  const worker = await startWorker({ opened, queue, log, observers: moving })
  let stopped: Promise<void> | undefined
  return {
    stop(deadlineMs = 3000) {
      stopped ??= (async () => {
        await worker.stop(deadlineMs)
        await queue.close()
        await opened.close()
      })()
      return stopped
    },
  }
}

type Customers = { readonly db: TestDatabase; readonly role: TestRole }

/** The usual customers of this process, to copy from. */
let usual: Promise<Customers> | undefined

async function makeCustomers(db: TestDatabase, sql: string, config: Config): Promise<Customers> {
  await db.sql(sql)
  await installCapture(db.pool, config)
  const role = await db.makeRole()
  await grant(db, role, config)
  return { db, role }
}

async function copyOf({ db: source, role }: Customers): Promise<Customers> {
  const db = await freshDatabase({ copyOf: source })
  return { db, role: { ...role, url: urlOf(role.url, db.name) } }
}

/** The rights of the script that `rollcall grants` prints. */
async function grant(db: TestDatabase, role: TestRole, config: Config): Promise<void> {
  const { script } = await grantsScript(db.pool, role.name, { kind: 'worker', config, queue: true })
  await db.sql(script)
}
