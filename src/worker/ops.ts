import type { JobQueue } from '../dispatch/queue.ts'
import { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { makeReadiness } from '../ops/health.ts'
import type { Log } from '../ops/log.ts'
import { type Ops, type OpsAddress, startOps } from '../ops/server.ts'
import { type Measuring, makeMeasuring } from './measuring.ts'
import { openTables } from './tables.ts'

const PARTS = {
  postgres: 'Postgres at DATABASE_URL does not answer',
  queue: 'the queue at QUEUE_URL does not answer',
  mapping: 'syncs go by another mapping than this worker has: see `rollcall backfill --mapping`',
} as const

type Options = {
  /** Null: nothing listens, and what is observed is for nobody. */
  readonly address: OpsAddress | null
  readonly databaseUrl: string
  /** Of verification. */
  readonly periodMs: number | null
  readonly log: Pick<Log, 'info' | 'warn' | 'debug'>
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** As far as the worker has come. */
type Running = {
  readonly queue: Pick<JobQueue, 'count'>
  /** Whether syncs go by this worker's mapping. */
  readonly takesPart: () => boolean
}

export type WorkerOps = {
  /** Null: nothing listens. */
  readonly url: string | null
  /** Handed to the worker beside its other observers. */
  readonly observers: Measuring['observers']
  /** Told when the worker runs; until then it is not ready. */
  runs(running: Running): void
  close(): Promise<void>
}

/**
 * Opened before anything that may have to be waited for, so that a waiting worker can be seen, and closed last.
 *
 * @throws RollcallError OPS_PORT_TAKEN
 */
export async function openOps({ address, databaseUrl, periodMs, log, now }: Options): Promise<WorkerOps> {
  const tables = openTables({
    ...{ url: databaseUrl, periodMs },
    onPoolError: (error) => log.debug(nameOf(error), 'a database connection of the metrics was lost'),
  })
  const { observers, health, text } = makeMeasuring({
    ...{ now, readTables: tables.read },
    onTrouble: (error) => log.debug(nameOf(error), 'the tables could not be read for metrics'),
  })
  if (!address) return { url: null, observers, runs: () => {}, close: async () => {} }
  const ready = makeReadiness<keyof typeof PARTS>({
    ...{ parts: PARTS, now },
    onTrouble: (part, error) => log.debug({ part, ...nameOf(error) }, 'not ready'),
  })
  ready.watch('postgres', tables.ping)
  const ops = await listen(address, (at) =>
    startOps({ ...at, health, readiness: ready.readiness, metrics: text, log }),
  )
  const { byDefault, port } = address
  if (byDefault && new URL(ops.url).port !== String(port))
    log.warn({ taken: port, url: ops.url }, 'the usual ops port is taken: set OPS_PORT to choose one')
  return {
    url: ops.url,
    observers,
    runs({ queue, takesPart }) {
      ready.watch('queue', async () => (await queue.count()) >= 0)
      ready.watch('mapping', async () => takesPart())
    },
    async close() {
      await ops.close()
      await tables.close()
    },
  }
}

/** The default port may be taken by another worker on this machine; then any free one will do. */
async function listen(
  { byDefault, host, port }: OpsAddress,
  start: (at: Pick<OpsAddress, 'host' | 'port'>) => Promise<Ops>,
): Promise<Ops> {
  try {
    return await start({ host, port })
  } catch (error) {
    if (!byDefault || !(error instanceof RollcallError) || error.code !== 'OPS_PORT_TAKEN') throw error
    return await start({ host, port: 0 })
  }
}
