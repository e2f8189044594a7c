import type { Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { connectQueue, queueError } from './connect.ts'
import { consume, type Keep, openBullQueue, PREFIX } from './consume.ts'
import type { JobQueue, LeasePage, Witness } from './queue.ts'
import { openTicks } from './ticks.ts'

/** Finished jobs are kept for a look at them; what is owed stands in Postgres. */
const KEEP: Keep = { removeOnComplete: { count: 200 }, removeOnFail: { age: 86_400, count: 1000 } }

type Options = {
  readonly queueUrl: string
  /** Tells installations apart that share a server. */
  readonly name: string
  readonly onError: (error: Error) => void
}

/**
 * A queue on either of BullMQ's backends. A job holds row ids and tokens and is tried once: retries have
 * one owner, `due_at`. It never gets a job id of ours: the single-use token makes duplicates harmless, and a
 * fixed id that is kept blocks every later job of the same customer.
 */
export async function openQueue({ queueUrl, name, onError }: Options): Promise<JobQueue> {
  const connection = await connectQueue(queueUrl, onError)
  const closing = async (opened: Queue) => {
    await opened.close()
    await connection.close()
  }
  const queue = await openBullQueue({ connection, queueUrl, name, keep: KEEP, onError }, closing)
  const shared = { connection, queueUrl, onError }

  return {
    async add(pages) {
      await queue.addBulk(pages.map((data) => ({ name: 'sync', data })))
    },
    async count() {
      const counts = await queue.getJobCounts('waiting', 'active')
      return Object.values(counts).reduce((sum, n) => sum + n, 0)
    },
    consume: (process, { concurrency }) =>
      consume<LeasePage>(async (page) => process(page).then(() => ({ failed: null })), {
        ...{ ...shared, name, concurrency, keep: KEEP },
      }),
    ticks: (tick, { everyMs }) => openTicks(tick, { ...shared, name: `${name}-reconcile`, everyMs }),
    witness: connection.redis && makeWitness(connection.redis, { queueUrl, name }),
    close: () => closing(queue),
  }
}

/** A sorted set whose members all have one score, so that they sort as texts: the last one is never taken away. */
function makeWitness(redis: Redis, { queueUrl, name }: Pick<Options, 'queueUrl' | 'name'>): Witness {
  const key = `${PREFIX}:witness:${name}`
  const orThrow = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((error: unknown) => Promise.reject(queueError(error, queueUrl)))
  return {
    read: async () => (await orThrow(redis.zrange(key, -1, '-1')))[0] ?? null,
    async keep(mark) {
      await orThrow(redis.zadd(key, 0, mark))
      await orThrow(redis.zremrangebyrank(key, 0, -2))
    },
  }
}
