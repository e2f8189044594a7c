// A rollcall on a Postgres and a Redis of its own, which a test may stop, kill and start again.
import pg from 'pg'
import { install } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { databaseAt } from '../../src/database/session.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import type { FallingServer } from './falling.ts'
import { CONFIG, CUSTOMERS, SECRETS } from './house.ts'
import { startPostgresInMemory } from './in-memory.ts'
import type { QueueLane } from './lanes.ts'
import { startRedis } from './redis-server.ts'
import { until } from './until.ts'

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

const OPEN = `
SELECT (to_jsonb(o) || jsonb_build_object('state', l.state, 'reason', l.reason))::text AS open
FROM rollcall.owed o FULL JOIN (SELECT key FROM rollcall.outbox) b USING (key) LEFT JOIN rollcall.ledger l USING (key)
WHERE o.due_at IS NOT NULL OR o.unknown OR b.key IS NOT NULL LIMIT 3`

export async function buildOwnHouse(lane: QueueLane): Promise<OwnHouse> {
  await using opening = new AsyncDisposableStack()
  const postgres = opening.use(await startPostgresInMemory())
  const queue = lane.name === 'redis' ? opening.use(await startRedis()) : postgres
  const pool = opening.adopt(new pg.Pool({ connectionString: postgres.url }), (pool) => pool.end())
  pool.on('error', () => undefined)
  await migrate(databaseAt(postgres.url), queue === postgres ? { queue: databaseAt(queue.url) } : {})
  await pool.query(CUSTOMERS)
  const client = await pool.connect()
  await install(client, await planCapture(client, resolveConfig(AUTHORED, 'rollcall.config.ts')))
  client.release()
  const sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
  })
  opening.defer(() => sandbox.stop())
  const opened = opening.move()
  return {
    postgres,
    queue,
    pool,
    sandbox,
    authored: AUTHORED,
    env: { ...SECRETS, DATABASE_URL: postgres.url, QUEUE_URL: queue.url, SERVICE_URL: sandbox.url },
    async settled() {
      const nothing = async () => {
        const { rows } = await pool.query<{ open: string | null }>(OPEN)
        if (rows.length > 0) throw new Error(rows.map(({ open }) => open ?? 'not noted yet').join('; '))
        return true
      }
      await until(nothing, { what: 'nothing owed and nothing unknown' })
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
