import { type Consuming, consume, type Keep, openBullQueue } from './consume.ts'
import type { Processed, Ticks } from './queue.ts'

/** A tick says nothing that a later one does not say as well. */
const KEEP: Keep = { removeOnComplete: { count: 10 }, removeOnFail: { age: 86_400, count: 20 } }
const SCHEDULE = 'reconcile'
/** A schedule whose next tick is overdue by more than this has lost it: BullMQ makes the next one as one begins. */
const LOST_MS = 10_000
const LOST_TICKS = 3

type Options = Omit<Consuming, 'concurrency' | 'keep'> & { readonly everyMs: number }

/**
 * A job scheduler in a queue of its own, because it makes the next tick only as the last one begins: behind thousands of
 * syncs it would stand still. All processes take from it, and each tick goes to one of them.
 */
export async function openTicks(
  tick: () => Promise<Processed>,
  { everyMs, ...rest }: Options,
): Promise<Ticks> {
  const queue = await openBullQueue({ ...rest, keep: KEEP }, (opened) => opened.close())
  const close = () => queue.close()

  async function tend(): Promise<void> {
    const found = await queue.getJobScheduler(SCHEDULE)
    const away = (found?.next ?? 0) - Date.now()
    const lost = away < -Math.max(LOST_MS, LOST_TICKS * everyMs)
    if (found?.every === everyMs && !lost && away <= LOST_TICKS * everyMs) return
    // Changed in place it would keep the offset of the old interval, and go on as late as that says.
    if (found) await queue.removeJobScheduler(SCHEDULE)
    await queue.upsertJobScheduler(SCHEDULE, { every: everyMs }, { name: SCHEDULE, data: {} })
  }

  try {
    await tend()
    const consumer = await consume(tick, { ...rest, concurrency: 1, keep: KEEP })
    return {
      tend,
      async close(deadlineMs) {
        await consumer.close(deadlineMs)
        await close()
      },
    }
  } catch (error) {
    await close().catch(() => undefined) // what ended it is told
    throw error
  }
}
