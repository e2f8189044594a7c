import { Queue, UnrecoverableError, Worker } from 'bullmq'
import type { Lease } from '../ledger/lease.ts'
import { nameOf } from '../model/name-of.ts'
import { connectQueue, queueError } from './connect.ts'
import type { Consumer, JobQueue, Processed } from './queue.ts'

/** Finished jobs are kept for a look at them; what is owed stands in Postgres. */
const KEEP = { removeOnComplete: { count: 200 }, removeOnFail: { age: 86_400, count: 1000 } }
/** A killed worker's job is found again after seconds, not after BullMQ's minute. */
const LOCK_MS = 5000
const STALLED_CHECK_MS = 2500
/** For what never came to work. */
const GIVEN_UP_MS = 500
/** Redis cluster keeps a queue's keys together only under a braced prefix. */
const PREFIX = '{rollcall}'

type Options = {
  readonly queueUrl: string
  /** Tells installations apart that share a server. */
  readonly name: string
  readonly onError: (error: Error) => void
}

/**
 * A queue on either of BullMQ's backends. A job holds a row id and a token and is tried once: retries have
 * one owner, `due_at`. It never gets a job id of ours: the single-use token makes duplicates harmless, and a
 * fixed id that is kept blocks every later job of the same customer.
 */
export async function openQueue({ queueUrl, name, onError }: Options): Promise<JobQueue> {
  const connection = await connectQueue(queueUrl, onError)
  const queue = new Queue(
    name,
    { connection: connection.producer, prefix: PREFIX, defaultJobOptions: { attempts: 1, ...KEEP } },
    connection.factory as never,
  )
  queue.on('error', onError)
  const close = async () => {
    await queue.close()
    await connection.close()
  }
  await readyOr(queue, queueUrl, close)

  return {
    async add(leases) {
      await queue.addBulk(leases.map(({ id, token }) => ({ name: 'sync', data: { id, token } })))
    },
    async count() {
      const counts = await queue.getJobCounts('waiting', 'active')
      return Object.values(counts).reduce((sum, n) => sum + n, 0)
    },
    async consume(process, { concurrency }) {
      const worker = new Worker<Lease>(
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
          ...KEEP,
        },
        connection.factory as never,
      )
      worker.on('error', onError)
      const consuming = consumer(worker)
      // Left alone it would ask a connection that is gone, without a pause and for ever.
      await readyOr(worker, queueUrl, () => consuming.close(GIVEN_UP_MS))
      return consuming
    },
    close,
  }
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
    await close().catch(() => undefined) // what ended it is told
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
