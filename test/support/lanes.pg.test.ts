import { createPostgresBackend, Queue } from 'bullmq'
import { expect, test } from 'vitest'
import { QUEUE_SCHEMA } from '../../src/ledger/migrate.ts'
import { freshDatabase } from './database.ts'
import { eachLane } from './lanes.ts'

// Else a test of what happens to a lost queue would pass without losing it.
eachLane('the queue of a test', (lane) => {
  test('is a place of its own, and can be lost', async () => {
    await using one = await freshDatabase()
    await using other = await freshDatabase()
    await using mine = openQueue(await lane.queueUrl(one))
    await using theirs = openQueue(await lane.queueUrl(other))

    await mine.queue.add('job', {})
    const waiting = () => Promise.all([mine.queue, theirs.queue].map((queue) => queue.getWaitingCount()))
    expect(await waiting()).toEqual([1, 0])
    await lane.lose(mine.url)
    expect(await waiting()).toEqual([0, 0])
  })
})

function openQueue(url: string) {
  const queue = url.startsWith('redis')
    ? new Queue('q', { connection: { url } })
    : new Queue('q', { connection: { connectionString: url, schema: QUEUE_SCHEMA } }, createPostgresBackend)
  return { url, queue, [Symbol.asyncDispose]: () => queue.close() }
}
