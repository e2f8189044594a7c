import { Queue, UnrecoverableError, Worker } from 'bullmq'
import { nameOf } from '../model/name-of.ts'
import { type QueueConnection, queueError } from './connect.ts'
import type { Consumer, Processed } from './queue.ts'

/** Redis cluster keeps a queue's keys together only under a braced prefix. */
export const PREFIX = '{rollcall}'
/** A killed worker's job is found again after seconds, not after BullMQ's minute. */
const LOCK_MS = 5000
const STALLED_CHECK_MS = 2500
/** For what never came to work. */
const GIVEN_UP_MS = 500

/** How many finished jobs are kept, and for how long. */
export type Keep = {
  readonly removeOnComplete: { readonly count: number }
  readonly removeOnFail: { readonly age: number; readonly count: number }
}

export type Consuming = {
  readonly connection: QueueConnection
  readonly queueUrl: string
  readonly name: string
  readonly concurrency: number
  readonly keep: Keep
  readonly onError: (error: Error) => void
}

/** `close`: ends it, and what else was opened for it. A job is tried once. */
export async function openBullQueue(
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

/** Takes the jobs of a queue, from when it resolves. */
export async function consume<T>(
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
