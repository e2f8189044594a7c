import { Redis } from 'ioredis'

export type RedisSession = AsyncDisposable & { readonly redis: Redis }

/** `await using session = connectRedis(url)`; a server that does not answer is an error at the first command. */
export function connectRedis(url: string): RedisSession {
  const redis = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
  // The command that fails carries the error too.
  redis.on('error', () => undefined)
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() }
}

export async function ping(url: string): Promise<string> {
  await using session = connectRedis(url)
  return await session.redis.ping()
}

/** How many numbered databases the server has; where asking is forbidden, as many as by default. */
export async function databasesOf(url: string): Promise<number> {
  await using session = connectRedis(url)
  const answer = await session.redis.config('GET', 'databases').catch(() => undefined)
  const given = Array.isArray(answer) ? answer[1] : answer && (answer as Record<string, string>).databases
  return Number(given ?? 16)
}
