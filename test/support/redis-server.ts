// A throw-away Redis for the tests, from the redis-server of the system.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { temporaryFolder } from '../../src/embedded/account.ts'
import { guard, HOST, launch } from '../../src/embedded/launch.ts'
import { RollcallError } from '../../src/model/errors.ts'
import { type FallingServer, falling } from './falling.ts'

/**
 * As BullMQ wants it (`noeviction`), with a random password, and with nothing kept: a restart loses all. `more`:
 * further lines of its configuration.
 *
 * @throws RollcallError EMBEDDED_UNAVAILABLE when there is no redis-server on the PATH; EMBEDDED_FAILED with
 * the end of its log when it does not start.
 */
export async function startRedis({
  databases = 16,
  password = randomBytes(18).toString('base64url'),
  more = '',
} = {}): Promise<FallingServer> {
  const file = await onPath('redis-server')
  if (!file) throw new RollcallError('EMBEDDED_UNAVAILABLE', ['Redis: no redis-server on the PATH'])
  const folder = await temporaryFolder('rollcall-redis-')
  const guardian = guard({ folder, lastSignal: 'SIGTERM', deadlineMs: 10_000 })
  try {
    const config = join(folder, 'redis.conf')
    await writeFile(config, configuration(folder, password, databases) + more, { mode: 0o600 })
    const server = await launch(guardian, {
      name: 'Redis',
      command: (port) => ({
        file,
        args: [config, '--port', String(port)],
        env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' },
        log: join(folder, `redis-${port}.log`),
      }),
      url: (port) => `redis://:${password}@${HOST}:${port}`,
      ask,
    })
    return falling(server, 'SIGTERM')
  } catch (error) {
    await guardian.release()
    throw error
  }
}

/** In a file and not on the command line, which all users of the machine can read. */
function configuration(folder: string, password: string, databases: number): string {
  return `bind ${HOST}
requirepass ${password}
dir "${folder}"
databases ${databases}
maxmemory-policy noeviction
save ""
appendonly no
`
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (folder && runs) return file
  }
  return undefined
}

async function ask(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 })
  // `connect` and `ping` reject with the same error.
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    await redis.ping()
  } finally {
    redis.disconnect()
  }
}
