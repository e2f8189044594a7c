// Where the servers of a run come from: named in the environment (TEST_DATABASE_URL, TEST_REDIS_URL), else started here.
import { RollcallError } from '../../src/model/errors.ts'
import { startPostgresInMemory } from './in-memory.ts'
import { noteMissing } from './missing.ts'
import { startRedis } from './redis-server.ts'

type Service = { readonly url: string; stop(): Promise<void> }
export type Services = {
  readonly postgres: { readonly url: string }
  readonly redis: { readonly url: string } | undefined
  close(): Promise<void>
}

/** Without Redis a run goes on and says so, because the other lane still tests nearly everything. */
export async function openServices(env: Readonly<Record<string, string | undefined>>): Promise<Services> {
  await using opening = new AsyncDisposableStack()
  const open = async (url: string | undefined, start: () => Promise<Service>) => {
    const service = url ? { url, stop: async () => undefined } : await start()
    opening.defer(() => service.stop())
    return service
  }

  const postgres = await open(env.TEST_DATABASE_URL, () =>
    startPostgresInMemory({ settings: { max_connections: 600 } }),
  )
  const redis = await open(env.TEST_REDIS_URL, () => startRedis({ databases: 512 })).catch(
    (error: unknown) => {
      if (!(error instanceof RollcallError && error.code === 'EMBEDDED_UNAVAILABLE')) throw error
      noteMissing('the Redis queue: no redis-server on the PATH (apt-get install redis-server)')
      return undefined
    },
  )
  const opened = opening.move()
  return { postgres, redis, close: () => opened.disposeAsync() }
}
