// A rollcall on a Postgres and a Redis of its own, which a test may stop, kill and start again.
import pg from 'pg'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { databaseAt } from '../../src/database/session.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { atRest } from './at-rest.ts'
import type { FallingServer } from './falling.ts'
import { CONFIG, CUSTOMERS, SECRETS } from './house.ts'
import { startPostgresInMemory } from './in-memory.ts'
import { installCapture } from './install.ts'
import type { QueueLane } from './lanes.ts'
import { startRedis } from './redis-server.ts'

export type OwnHouse = AsyncDisposable & {
  readonly postgres: FallingServer
  /** In the lane of the Postgres queue the same server. */
  readonly queue: FallingServer
  /** Its connections may break; those that do are replaced. */
  readonly pool: pg.Pool
  readonly sandbox: Sandbox
  readonly authored: RollcallConfig
  readonly env: Readonly<Record<string, string>>
  /** Nothing in the outbox, nothing owed, nothing unknown. */
  settled(): Promise<void>
}

/** Verification has to get over whatever falls, too. */
const AUTHORED: RollcallConfig = { ...CONFIG, reconcile: { period: '2s' } }

type Options = {
  readonly config?: Partial<RollcallConfig>
  readonly sql?: string
  readonly settings?: Readonly<Record<string, string>>
  /** Seeds the service's faults. */
  readonly seed?: number
}

export async function buildOwnHouse(
  lane: Pick<QueueLane, 'name'>,
  { config = {}, sql = CUSTOMERS, settings = {}, seed }: Options = {},
): Promise<OwnHouse> {
  const authored = { ...AUTHORED, ...config }
  await using opening = new AsyncDisposableStack()
  const postgres = opening.use(await startPostgresInMemory({ settings }))
  const queue = lane.name === 'redis' ? opening.use(await startRedis()) : postgres
  const pool = opening.adopt(new pg.Pool({ connectionString: postgres.url, max: 12 }), (pool) => pool.end())
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined))
  await migrate(databaseAt(postgres.url), queue === postgres ? { queue: databaseAt(queue.url) } : {})
  await pool.query(sql)
  await installCapture(pool, resolveConfig(authored, 'rollcall.config.ts'))
  const sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
    ...(seed === undefined ? {} : { seed }),
  })
  opening.defer(() => sandbox.stop())
  const opened = opening.move()
  return {
    postgres,
    queue,
    pool,
    sandbox,
    authored,
    env: { ...SECRETS, DATABASE_URL: postgres.url, QUEUE_URL: queue.url, SERVICE_URL: sandbox.url },
    settled: () => atRest(pool),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
