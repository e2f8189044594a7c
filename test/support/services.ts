// Where the servers of a run come from: named in the environment, else containers where a Docker engine
// answers, else embedded. TEST_SERVICES=environment|containers|embedded allows only one of them.

import { RollcallError } from '../../src/model/errors.ts'
import { inContainers } from './containers.ts'
import { startPostgresInMemory } from './in-memory.ts'
import { noteMissing } from './missing.ts'
import { startRedis } from './redis-server.ts'

export type Kind = 'postgres' | 'redis'
export type Service = { readonly url: string; stop(): Promise<void> }
export type Env = Readonly<Record<string, string | undefined>>
export type Note = (line: string) => void
/** Resolves to undefined where this way cannot give that service; it has said why. */
export type Source = (kind: Kind, env: Env, note: Note) => Promise<Service | undefined>
export type Services = {
  readonly postgres: { readonly url: string }
  readonly redis: { readonly url: string } | undefined
  close(): Promise<void>
}

const SOURCES = { environment: inEnvironment, containers: inContainers, embedded } satisfies Record<
  string,
  Source
>

/** Without Redis a run goes on and says so, because the other lane still tests nearly everything. */
export async function openServices(env: Env, note: Note): Promise<Services> {
  await using opening = new AsyncDisposableStack()
  const open = async (kind: Kind) => {
    for (const source of chosen(kind, env)) {
      const service = await source(kind, env, note)
      if (service) opening.defer(() => service.stop())
      if (service) return service
    }
    return undefined
  }

  const postgres = await open('postgres')
  if (!postgres) throw new Error('No Postgres can be had, so nothing can be tested; the reason stands above.')
  const redis = await open('redis')
  if (!redis) noteMissing('the Redis queue: no redis-server on the PATH (apt-get install redis-server)')

  const opened = opening.move()
  return { postgres, redis, close: () => opened.disposeAsync() }
}

function chosen(kind: Kind, env: Env): readonly Source[] {
  const only = env.TEST_SERVICES
  if (!only && kind === 'postgres' && env.TEST_POSTGRES_BIN) return [inEnvironment, embedded]
  if (!only) return Object.values(SOURCES)
  const source: Source | undefined = Object.hasOwn(SOURCES, only)
    ? SOURCES[only as keyof typeof SOURCES]
    : undefined
  if (!source) throw new Error(`TEST_SERVICES must be one of ${Object.keys(SOURCES).join(', ')}.`)
  return [source]
}

async function inEnvironment(kind: Kind, env: Env): Promise<Service | undefined> {
  const url = kind === 'postgres' ? env.TEST_DATABASE_URL : env.TEST_REDIS_URL
  return url ? { url, stop: async () => undefined } : undefined
}

async function embedded(kind: Kind, _env: Env, note: Note): Promise<Service | undefined> {
  try {
    return kind === 'postgres'
      ? await startPostgresInMemory({ settings: { max_connections: 600 } })
      : await startRedis({ databases: 512 })
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    note(`no embedded ${kind}: ${error.message} ${error.details.join('; ')}`)
    return undefined
  }
}
