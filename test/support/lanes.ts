// Both kinds of queue must behave alike, so tests that touch the queue run in both lanes.
import { describe, inject } from 'vitest'
import type { TestDatabase } from './database.ts'
import { loseQueueInPostgres } from './queue-loss.ts'
import { connectRedis } from './redis.ts'

export type QueueLane = {
  readonly name: 'redis' | 'postgres'
  readonly available: boolean
  /** A QUEUE_URL with an empty queue that no other test uses. */
  queueUrl(database: TestDatabase): Promise<string>
  /** Loses everything on the queue, as FLUSHALL or a failover would. */
  lose(queueUrl: string): Promise<void>
}

const redis: QueueLane = {
  name: 'redis',
  available: Boolean(inject('servers')?.redis),
  async queueUrl() {
    const server = inject('servers')?.redis
    if (!server) throw new Error('There is no Redis in this run.')
    await using session = connectRedis(server.url)
    // Database 0 only counts; a number comes round again long after the test that had it has ended.
    const turn = await session.redis.incr('rollcall-test:turn')
    const url = new URL(server.url)
    url.pathname = `/${1 + (turn % (server.databases - 1))}`
    await redis.lose(url.href)
    return url.href
  },
  async lose(queueUrl) {
    await using session = connectRedis(queueUrl)
    await session.redis.flushdb()
  },
}

export const postgres: QueueLane = {
  name: 'postgres',
  available: true,
  queueUrl: async (database) => database.url,
  lose: loseQueueInPostgres,
}

export const lanes: readonly QueueLane[] = [redis, postgres]

/** For what is the same behind either queue. */
export const anyLane = redis.available ? redis : postgres

/** The lanes of this run: the small one has one of them, and the full one makes up for the other. */
function chosen(): readonly QueueLane[] {
  switch (process.env.TEST_LANES) {
    case 'first':
      return [anyLane]
    case 'other':
      return lanes.filter((lane) => lane !== anyLane)
    default:
      return lanes
  }
}

/** For what is long and the same behind either queue: in the one that the small run leaves out. */
export function otherLane(title: string, body: (lane: QueueLane) => void): void {
  const lane = lanes.find((each) => each.available && each !== anyLane) ?? anyLane
  describe(`${title} (${lane.name} queue)`, () => body(lane))
}

/** `describe` once for each lane of this run; one that cannot be had shows up as skipped. */
export function eachLane(title: string, body: (lane: QueueLane) => void): void {
  for (const lane of chosen())
    describe.skipIf(!lane.available)(`${title} (${lane.name} queue)`, () => body(lane))
}
