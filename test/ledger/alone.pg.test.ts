// One process at a time, whatever becomes of the connection that says so.
import { expect, test } from 'vitest'
import { makePool } from '../../src/database/pool.ts'
import { alone } from '../../src/ledger/alone.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

test('a second one is not begun, and may be once the first has ended, also where that has failed', async () => {
  await using db = await freshDatabase()
  const { pool } = db
  const second = async () => await alone(pool, 'sweep', async () => 'second')
  expect(await alone(pool, 'sweep', second)).toBe(null)
  expect(await alone(pool, 'backfill', second)).toBe('second')
  await expect(alone(pool, 'sweep', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await second()).toBe('second')
})

test('what was done is not lost with the connection that held the lock', async () => {
  await using db = await freshDatabase()
  const pool = makePool({ url: db.url, max: 2, onError: () => undefined })
  const done = await alone(pool, 'run', async () => {
    await pool.query(CUT)
    return 'done'
  })
  expect(done).toBe('done')
  // Postgres takes a moment to end a connection.
  await until(async () => (await alone(pool, 'run', async () => 'again')) === 'again')
  await pool.end()
})
