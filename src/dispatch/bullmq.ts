import { Queue, UnrecoverableError, Worker } from 'bullmq'
import type { Cluster, Redis } from 'ioredis'
import type { Lease } from '../ledger/lease.ts'
import { nameOf } from '../model/name-of.ts'
import { connectQueue, type QueueConnection, queueError } from './connect.ts'
import type { Consumer, JobQueue, Processed, Schedule, Witness } from './queue.ts'

/** Finished jobs are kept for people who look at the queue. The owed syncs are in Postgres. */
const KEEP: Keep = { removeOnComplete: { count: 200 }, removeOnFail: { age: 86_400, count: 1000 } }

/** Redis cluster keeps a queue's keys together only under a braced prefix. */
const PREFIX = '{rollcall}'
/** A killed worker's job is found again after seconds, not after BullMQ's minute. */
const LOCK_MS = 5000
const STALLED_CHECK_MS = 2500
/** For what never came to work. */
const GIVEN_UP_MS = 500

type Keep = {
  readonly removeOnComplete: { readonly count: number }
  readonly removeOnFail: { readonly age: number; readonly count: number }
}

type Consuming = {
  readonly connection: QueueConnection
  readonly queueUrl: string
  readonly name: string
  readonly concurrency: number
  readonly keep: Keep
  readonly onError: (error: Error) => void
}

/** `name` tells installations apart that share a server. */
type Options = Pick<Consuming, 'queueUrl' | 'name' | 'onError'>

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
  const orThrow = throwing(queueUrl)

  return {
    async add(jobs) {
      await orThrow(queue.addBulk(jobs.map((data) => ({ name: 'sync', data }))))
    },
    count: () => orThrow(queue.getJobCountByTypes('waiting', 'active')),
    consume: (process, { concurrency }) =>
      consume<readonly Lease[]>(async (leases) => process(leases).then(() => ({ failed: null })), {
        ...{ ...shared, name, concurrency, keep: KEEP },
      }),
    schedule: (step, { everyMs }) => openSchedule(step, { ...shared, name: `${name}-reconcile`, everyMs }),
    witness: connection.redis && makeWitness(connection.redis, { queueUrl, name }),
    close: () => closing(queue),
  }
}

/** An error of the queue names the queue, and never the database or its role. */
const throwing =
  (queueUrl: string) =>
  <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => Promise.reject(queueError(error, queueUrl)))

/** A sorted set whose members all have one score, so that they sort as texts: the last one is never taken away. */
function makeWitness(
  redis: Redis | Cluster,
  { queueUrl, name }: Pick<Options, 'queueUrl' | 'name'>,
): Witness {
  const key = `${PREFIX}:witness:${name}`
  const orThrow = throwing(queueUrl)
  return {
    read: async () => (await orThrow(redis.zrange(key, -1, '-1')))[0] ?? null,
    async keep(watermark) {
      await orThrow(redis.zadd(key, 0, watermark))
      await orThrow(redis.zremrangebyrank(key, 0, -2))
    },
  }
}

/** A run says nothing that a later one does not say as well. */
const KEEP_RUNS: Keep = { removeOnComplete: { count: 10 }, removeOnFail: { age: 86_400, count: 20 } }
const SCHEDULE = 'reconcile'
/** A schedule whose next run is overdue by more than this has lost it: BullMQ makes the next one as one begins. */
const LOST_MS = 10_000
const LOST_RUNS = 3

type ScheduleOptions = Omit<Consuming, 'concurrency' | 'keep'> & { readonly everyMs: number }

/**
 * A job scheduler in a queue of its own, because it makes the next run only as the last one begins: behind thousands of
 * syncs it would stand still. All processes take from it, and each run goes to one of them.
 */
async function openSchedule(
  step: () => Promise<Processed>,
  { everyMs, ...rest }: ScheduleOptions,
): Promise<Schedule> {
  const queue = await openBullQueue({ ...rest, keep: KEEP_RUNS }, (opened) => opened.close())
  const close = () => queue.close()

  async function restore(): Promise<void> {
    const found = await queue.getJobScheduler(SCHEDULE)
    const away = (found?.next ?? 0) - Date.now()
    const lost = away < -Math.max(LOST_MS, LOST_RUNS * everyMs)
    if (found?.every === everyMs && !lost && away <= LOST_RUNS * everyMs) return
    // Changed in place it would keep the offset of the old interval, and go on as late as that says.
    if (found) await queue.removeJobScheduler(SCHEDULE)
    await queue.upsertJobScheduler(SCHEDULE, { every: everyMs }, { name: SCHEDULE, data: {} })
  }

  try {
    await restore()
    const consumer = await consume(step, { ...rest, concurrency: 1, keep: KEEP_RUNS })
    return {
      restore: () => throwing(rest.queueUrl)(restore()),
      async close(deadlineMs) {
        await consumer.close(deadlineMs)
        await close()
      },
    }
  } catch (error) {
    await close().catch(() => undefined) // the end is reported already
    throw queueError(error, rest.queueUrl)
  }
}

/** `close`: ends it, and what else was opened for it. A job is tried once. */
async function openBullQueue(
  { connection, queueUrl, name, keep, onError }: Omit<Consuming, 'concurrency'>,
  close: (queue: Queue) => Promise<void>,
): Promise<Queue> {
  const queue = new Queue(
    name,
    { connection: connection.producer, prefix: PREFIX, defaultJobOptions: { attempts: 1, ...keep } },
    connection.factory as never,
  )
  queue.on('error', onError)
  await readyOr(queue, queueUrl, () => close(queue))
  return queue
}

async function consume<T>(
  process: (data: T) => Promise<Processed>,
  { connection, queueUrl, name, concurrency, keep, onError }: Consuming,
): Promise<Consumer> {
  const worker = new Worker<T>(
    name,
    async (job) => fail(await process(job.data).catch(withoutWords)),
    {
      connection: connection.consumer,
      prefix: PREFIX,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      // A stalled job that is taken up again finds its claim open and ends without a call.
      maxStalledCount: 1000,
      runRetryDelay: 1000,
      ...keep,
    },
    connection.factory as never,
  )
  worker.on('error', onError)
  const consuming = consumer(worker)
  // Left alone it would ask a connection that is gone, without a pause and for ever.
  await readyOr(worker, queueUrl, () => consuming.close(GIVEN_UP_MS))
  return consuming
}

/** A server that goes away just now: nothing of ours is left behind, and it is said as what it is. */
async function readyOr(
  part: { waitUntilReady(): Promise<unknown> },
  queueUrl: string,
  close: () => Promise<void>,
): Promise<void> {
  try {
    await part.waitUntilReady()
  } catch (error) {
    await close().catch(() => undefined) // the end is reported already
    throw queueError(error, queueUrl)
  }
}

/** BullMQ keeps message and stack of an error, and a driver's message may quote a value. */
function withoutWords(error: unknown): never {
  throw new UnrecoverableError(Object.values(nameOf(error)).join(' '))
}

/** BullMQ shows an attempt as failed when its processor throws. */
function fail({ failed }: Processed): void {
  if (failed !== null) throw new UnrecoverableError(failed)
}

/** `worker.close()` has no deadline of its own. */
function consumer(worker: Worker): Consumer {
  return {
    pause: () => worker.pause(true),
    resume: () => worker.resume(),
    async close(deadlineMs) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, deadlineMs, 'late')
      })
      const outcome = await Promise.race([worker.close(), late])
      clearTimeout(timer)
      if (outcome === 'late')
        await Promise.race([worker.disconnect(), new Promise((resolve) => setTimeout(resolve, 500))])
    },
  }
}
