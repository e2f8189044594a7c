// The servers of a run, its customers, and what a rollcall process needs to know of them.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { install } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { databaseAt } from '../../src/database/session.ts'
import { guard } from '../../src/embedded/guarded.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import type { FallingServer } from '../support/falling.ts'
import { CONFIG, CUSTOMERS, SECRETS } from '../support/house.ts'
import { startPostgresInMemory } from '../support/in-memory.ts'
import { startRedis } from '../support/redis-server.ts'
import { createLog } from './log.ts'

export type Lane = 'redis' | 'postgres'

/** A process is killed, so the data must survive what a machine does when it does what it is told. */
const CRASH_SAFE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

/** A service shows a write later by this much at the most. */
export const LAG_MS = 200
export const TIMEOUT_MS = 400
export const LIFETIME_MS = 2500

const OUT_OF_REACH = { customers: 2_000_000_000, share: 1 }

export const CHAOS_CONFIG: RollcallConfig = {
  ...CONFIG,
  service: { timeoutMs: TIMEOUT_MS },
  pace: { ceiling: 200, concurrency: 10 },
  timing: {
    gapMs: 20,
    lifetimeMs: LIFETIME_MS,
    queueLeaseMs: 2500,
    consistencyDelayMs: LAG_MS * 1.2,
    retryMinMs: 30,
    retryMaxMs: 1000,
  },
  brake: { changes: OUT_OF_REACH, creates: OUT_OF_REACH },
}

export type Ground = AsyncDisposable & {
  readonly lane: Lane
  readonly postgres: FallingServer
  readonly redis: FallingServer | null
  /** The application's own connections, and the observer's. */
  readonly pool: pg.Pool
  /** With the configuration file. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** Nothing of it outlives this process, however that ends. */
export async function openGround(lane: Lane, serviceUrl: string): Promise<Ground> {
  await using opening = new AsyncDisposableStack()
  const postgres = opening.use(await startPostgresInMemory({ settings: CRASH_SAFE }))
  const redis = lane === 'redis' ? opening.use(await startRedis()) : null
  const queueUrl = redis?.url ?? postgres.url
  const pool = new pg.Pool({ connectionString: postgres.url, max: 12, connectionTimeoutMillis: 5000 })
  // A connection that breaks is replaced, and the next statement says what there is to say.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  opening.defer(() => pool.end())
  // Checked at the end of a statement, so that keys can change places.
  await pool.query(CUSTOMERS.replace('PRIMARY KEY', 'PRIMARY KEY DEFERRABLE'))
  await migrate(databaseAt(postgres.url), { queue: databaseAt(postgres.url) })
  await createLog(pool)
  const client = await pool.connect()
  await install(client, await planCapture(client, resolveConfig(CHAOS_CONFIG, 'rollcall.config.js')))
  client.release()
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-chaos-'))
  opening.defer(guard({ folder, lastSignal: 'SIGKILL', deadlineMs: 0 }).release)
  await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(CHAOS_CONFIG)}`)
  const opened = opening.move()
  return {
    lane,
    postgres,
    redis,
    pool,
    folder,
    env: { ...SECRETS, DATABASE_URL: postgres.url, QUEUE_URL: queueUrl, SERVICE_URL: serviceUrl },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
