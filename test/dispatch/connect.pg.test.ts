import pg from 'pg'
import { expect, it } from 'vitest'
import { connectQueue } from '../../src/dispatch/connect.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

it('a connection to a queue in Postgres that breaks while BullMQ has it in hand is told of, and ends no process', async () => {
  await using db = await freshDatabase()
  const told: Error[] = []
  const { producer } = await connectQueue(db.url, (error) => told.push(error))
  // As BullMQ makes it, and as it takes a connection of it before anything else.
  const pool = new pg.Pool(producer)
  const client = await pool.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
  await until(() => told.length > 0)
  client.release(true)
  await pool.end()
  expect(told[0]).toMatchObject({ code: '57P01' })
})
