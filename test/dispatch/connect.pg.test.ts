import pg from 'pg'
import { expect, it } from 'vitest'
import { openQueue } from '../../src/dispatch/bullmq.ts'
import { connectQueue } from '../../src/dispatch/connect.ts'
import { freshDatabase } from '../support/database.ts'
import { makeRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'

it('a connection to a queue in Postgres that breaks while BullMQ has it in hand is reported, and ends no process', async () => {
  await using db = await freshDatabase()
  const reported: Error[] = []
  const { producer } = await connectQueue(db.url, (error) => reported.push(error))
  // As BullMQ makes it, and as it takes a connection of it before anything else.
  const pool = new pg.Pool(producer)
  pool.on('error', () => undefined) // of a connection that is closing while its database is dropped
  const client = await pool.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
  await until(() => reported.length > 0)
  client.release(true)
  await pool.end()
  expect(reported[0]).toMatchObject({ code: '57P01' })
})

it('a queue in Postgres that goes away before it is taken from is said to be away, and works when it is there again', async () => {
  await using db = await freshDatabase()
  await using door = await makeRelay(db.url)
  await door.open()
  const onError = () => undefined
  const queue = await openQueue({ queueUrl: door.url, name: 'q', onError })
  await door.shut()
  await expect(queue.consume(async () => undefined, { concurrency: 1 })).rejects.toMatchObject({
    code: 'QUEUE_DOWN',
  })
  await queue.close().catch(() => undefined)
  await door.open()
  // And the next one works.
  const again = await openQueue({ queueUrl: door.url, name: 'q', onError })
  const consumer = await again.consume(async () => undefined, { concurrency: 1 })
  await consumer.close(1000)
  await again.close()
})

it('a queue in Postgres without its tables: what makes them, and where, and no password', async () => {
  await using db = await freshDatabase({ empty: true })
  const role = await db.makeRole()
  const refused = await connectQueue(role.url, () => undefined).catch((error) => error)
  expect(refused).toMatchObject({ code: 'NOT_MIGRATED' })
  const { host } = new URL(db.url)
  expect(refused.details.join()).toContain(`in postgres://${host}/${db.name}: it is QUEUE_URL that`)
  expect(refused.details.join()).not.toContain(`${role.name}@`)
})

it('a right that is lost later names the role of the queue', async () => {
  await using db = await freshDatabase()
  const { name, url } = await db.makeRole()
  const tables = 'ALL ON ALL TABLES IN SCHEMA rollcall_queue'
  await db.pool.query(`GRANT USAGE ON SCHEMA rollcall_queue TO ${name}; GRANT ${tables} TO ${name}`)
  const queue = await openQueue({ queueUrl: url, name: 'q', onError: () => undefined })
  await db.pool.query(`REVOKE ${tables} FROM ${name}`)
  const details = [expect.stringContaining(`the role ${name} (QUEUE_URL)`)]
  await expect(queue.count()).rejects.toMatchObject({ code: 'QUEUE_REFUSED', details })
  await queue.close()
})
