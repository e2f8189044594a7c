// All benchmarks share this: servers as a user has them, a bare service, customers with every field, and the worker that
// `npm run build` has built.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import pg from 'pg'
import { install } from '../src/capture/install.ts'
import { planCapture } from '../src/capture/relations.ts'
import type { Config } from '../src/config/config.ts'
import { resolveConfig } from '../src/config/resolve.ts'
import { databaseAt } from '../src/database/session.ts'
import { startPostgres } from '../src/embedded/postgres.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { chosenPostgres, findDistribution } from '../test/support/distribution.ts'
import { startRedis } from '../test/support/redis-server.ts'
import { COLUMNS, cpuOf, type Service, startService, type TargetOptions, VALUES } from './service.ts'

export const BIN = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
/** Such as `--cpu-prof`. */
const NODE_OPTIONS = (process.env.BENCH_NODE ?? '').split(' ').filter(Boolean)
export const KEYS = {
  apiKey: 'bench-api-key',
  secretKey: 'bench-secret-key',
  digestKey: 'bench-digest-key-of-thirty-two-ch',
}

/** All columns but one are mapped. */
export const MAPPED = {
  customers: { table: 'customers', key: 'id' },
  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { free: 0, premium: 2 } },
    ...Object.fromEntries(COLUMNS.slice(2).map((name) => [name, name])),
  },
}
export const CONFIG = resolveConfig(MAPPED, 'bench')

const TYPES: Readonly<Record<string, string>> = { gender: 'integer', birthdate: 'date' }

export type BenchHouse = AsyncDisposable & {
  readonly pool: pg.Pool
  readonly redisUrl: string
  readonly service: Service
  readonly worker: ChildProcess
  /** Where and with what a command runs. */
  readonly here: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }
  /** A command beside the worker, which ends with the house; nothing of what it says is kept. */
  start(args: readonly string[], stderr?: 'ignore' | 'inherit'): ChildProcess
}

export type BenchOptions = {
  readonly queue: 'redis' | 'postgres'
  readonly ceiling?: number
  readonly concurrency?: number
  /** Milliseconds until the service answers. */
  readonly latencyMs?: number
  /** The service takes each user for one that it has. */
  readonly allKnown?: boolean
  /** Whether the worker checks users by itself. */
  readonly checks?: boolean
  /** Called before the worker starts, with the worker's configuration. */
  readonly prepare?: (servers: Servers, config: Config) => Promise<void>
}

export type Servers = AsyncDisposable & {
  readonly pool: pg.Pool
  readonly url: string
  readonly redisUrl: string
  readonly service: Service
}

/** Servers as a user has them, an empty table of customers, and a bare service. */
export async function startServers(target: TargetOptions = {}): Promise<Servers> {
  await using stack = new AsyncDisposableStack()
  process.env.TEST_POSTGRES_BIN ??= findDistribution() ?? ''
  const { url } = stack.use(await startPostgres(chosenPostgres()))
  const redis = stack.use(await startRedis())
  const service = stack.use(await startService(target))
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => undefined)
  stack.defer(() => pool.end())
  const others = COLUMNS.slice(2).map((name) => `${name} ${TYPES[name] ?? 'text'}`)
  await pool.query(
    `CREATE TABLE customers (id text PRIMARY KEY, plan text NOT NULL, ${others.join(', ')}, note text)`,
  )
  const owned = stack.move()
  return { pool, url, redisUrl: redis.url, service, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A house with a worker that is ready to take work. */
export async function buildBenchHouse({
  queue,
  ceiling = 50,
  concurrency,
  latencyMs,
  allKnown = false,
  checks = false,
  prepare,
}: BenchOptions): Promise<BenchHouse> {
  await using stack = new AsyncDisposableStack()
  const servers = stack.use(await startServers({ latencyMs, allKnown }))
  const { pool, url, redisUrl, service } = servers
  await migrate(databaseAt(url), { queue: databaseAt(url) })
  const authored = {
    ...MAPPED,
    pace: { ceiling, ...(concurrency === undefined ? {} : { concurrency }) },
    // A benchmark creates more at once than the brake lets pass by default.
    brake: { creates: { customers: 10_000_000, share: 1 } },
    // Checks would count among what is measured.
    ...(checks ? {} : { reconcile: { period: false } }),
  }
  const config = resolveConfig(authored, 'bench')
  const client = await pool.connect()
  await install(client, await planCapture(client, config))
  client.release()
  await prepare?.(servers, config)

  const folder = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(authored)}`)
  const env = {
    ...process.env,
    LOG_LEVEL: 'warn',
    DATABASE_URL: url,
    QUEUE_URL: queue === 'redis' ? redisUrl : url,
    SERVICE_URL: service.url,
    SERVICE_API_KEY: KEYS.apiKey,
    SERVICE_SECRET_KEY: KEYS.secretKey,
    ROLLCALL_DIGEST_KEY: KEYS.digestKey,
  }
  const children: ChildProcess[] = []
  const start = (args: readonly string[], stderr: 'ignore' | 'inherit' = 'ignore'): ChildProcess => {
    const stdio = ['ignore', 'ignore', stderr] as const
    const child = spawn(process.execPath, [...NODE_OPTIONS, BIN, ...args], {
      cwd: folder,
      stdio: [...stdio],
      env,
    })
    children.push(child)
    return child
  }
  const worker = start(['worker'], 'inherit')
  stack.defer(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await closed
    }
  })
  await pool.query(`INSERT INTO customers VALUES ('warm-up', 'premium')`)
  while ((await service.counts()).users === 0) await sleep(20)
  const owned = stack.move()
  const here = { cwd: folder, env }
  return { pool, redisUrl, service, worker, here, start, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** New customers behind the back of capture. */
export async function insertUncaptured(pool: pg.Pool, customers: number): Promise<void> {
  await pool.query('ALTER TABLE customers DISABLE TRIGGER USER')
  await insertCustomers(pool, 1, customers)
  await pool.query('ALTER TABLE customers ENABLE TRIGGER USER')
}

/** New customers from one number to another, all fields set. */
export async function insertCustomers(pool: pg.Pool, from: number, to: number): Promise<void> {
  await pool.query(
    `INSERT INTO customers (${COLUMNS.join(', ')}) SELECT ${VALUES.join(', ')} FROM generate_series($1::int, $2::int) i`,
    [from, to],
  )
}

/** Milliseconds from the commit of a new customer to the arrival of its request at the service. */
export async function delayOf(
  { pool, service }: Pick<Servers, 'pool' | 'service'>,
  id: string,
): Promise<number> {
  await pool.query(`INSERT INTO customers (id, plan) VALUES ($1, 'premium')`, [id])
  const committed = Date.now()
  for (;;) {
    const arrived = await service.arrived(id)
    if (arrived !== null) return arrived - committed
    await sleep(5)
  }
}

/** Seconds of CPU that the server behind the pool has used, its sessions with it. */
export async function usageOfPostgres(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(`SELECT current_setting('data_directory') AS folder`)
  const main = readFileSync(join(rows[0].folder, 'postmaster.pid'), 'utf8').split('\n')[0]
  const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ')
  return children.reduce((sum, pid) => sum + (cpuOf(pid) ?? 0), cpuOf(main ?? '', true) ?? 0)
}

/** Seconds of CPU that Redis has used, and bytes that its clients have sent to it. */
export async function usageOfRedis(url: string): Promise<{ readonly cpu: number; readonly bytes: number }> {
  const redis = new Redis(url)
  try {
    const info = await redis.info()
    const numberOf = (name: string) => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1])
    return {
      cpu: numberOf('used_cpu_sys') + numberOf('used_cpu_user'),
      bytes: numberOf('total_net_input_bytes'),
    }
  } finally {
    redis.disconnect()
  }
}
