import type { Redis } from 'ioredis'
import { PREFIX } from './consume.ts'
import type { Witness } from './queue.ts'

type Options = {
  /** Of the queue: it names the installation. */
  readonly name: string
  /** Turns the message of a connection that ends into an error of ours. */
  readonly asError: (error: unknown) => unknown
}

/** A sorted set whose members all have one score, so that they sort as texts: the last one is never taken away. */
export function makeWitness(redis: Redis, { name, asError }: Options): Witness {
  const key = `${PREFIX}:witness:${name}`
  const orThrow = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked
    } catch (error) {
      throw asError(error)
    }
  }
  return {
    read: async () => (await orThrow(redis.zrange(key, -1, '-1')))[0] ?? null,
    async keep(mark) {
      await orThrow(redis.zadd(key, 0, mark))
      await orThrow(redis.zremrangebyrank(key, 0, -2))
    },
  }
}
