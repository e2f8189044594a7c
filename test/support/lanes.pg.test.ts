import { createPostgresBackend, Queue } from 'bullmq'
import { expect, inject, test } from 'vitest'
import { QUEUE_SCHEMA } from '../../src/ledger/migrate.ts'
import { administer } from './administer.ts'
import { freshDatabase } from './database.ts'
import { eachLane, lanes } from './lanes.ts'

test('a fresh database is migrated, alone, and gone afterwards', async () => {
  let name = ''
  {
    await using one = await freshDatabase()
    await using other = await freshDatabase()
    name = one.name
    await one.pool.query(`INSERT INTO rollcall.outbox (key, lane) VALUES ('a', 1)`)
    expect((await other.pool.query('SELECT * FROM rollcall.outbox')).rows).toEqual([])
  }
  const url = inject('servers')?.databaseUrl ?? ''
  expect((await administer(url, `SELECT 1 FROM pg_database WHERE datname = '${name}'`)).rows).toEqual([])
})

test('both lanes are listed, whether they can be had or not', () => {
  expect(lanes.map(({ name }) => name)).toEqual(['redis', 'postgres'])
})

eachLane('the queue of a test', (lane) => {
  test('is a place of its own, and can be lost', async () => {
    await using one = await freshDatabase()
    await using other = await freshDatabase()
    await using mine = openQueue(await lane.queueUrl(one))
    await using theirs = openQueue(await lane.queueUrl(other))

    await mine.queue.add('job', {})
    expect(await mine.queue.getWaitingCount()).toBe(1)
    expect(await theirs.queue.getWaitingCount()).toBe(0)

    await lane.lose(mine.url)
    expect(await mine.queue.getWaitingCount()).toBe(0)
    await mine.queue.add('job', {})
    expect(await mine.queue.getWaitingCount()).toBe(1)
  })
})

function openQueue(url: string) {
  const queue = url.startsWith('redis')
    ? new Queue('q', { connection: { url } })
    : new Queue('q', { connection: { connectionString: url, schema: QUEUE_SCHEMA } }, createPostgresBackend)
  return { url, queue, [Symbol.asyncDispose]: () => queue.close() }
}
