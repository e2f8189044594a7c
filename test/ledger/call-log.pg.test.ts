import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { type LogTrouble, makeCallLog } from '../../src/ledger/call-log.ts'
import type { CallEntry } from '../../src/ledger/calls.ts'
import { sleep } from '../../src/ops/time.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const entry = (n: number): CallEntry => ({
  key: `c${n}`,
  atMs: 1_000_000 + n,
  plan: 'lookup',
  method: 'GET',
  status: 200,
  error: null,
  meaning: 'present',
  ms: 1,
  fields: [],
  body: 'user',
  shape: '{}',
})

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
  return () => db.drop()
})

function open(pool: pg.Pool, more: { gatherMs?: number; mostKept?: number } = {}) {
  const troubles: LogTrouble[] = []
  const log = makeCallLog({
    pool,
    by: 'worker h/1',
    sleep,
    onTrouble: (trouble) => troubles.push(trouble),
    ...more,
  })
  return { log, troubles }
}

async function keys(): Promise<string[]> {
  const { rows } = await db.sql<{ key: string }>('SELECT key FROM rollcall.call ORDER BY at')
  return rows.map(({ key }) => key)
}

test('gathers entries, and writes them by itself after a while', async () => {
  // Longer than it takes to ask for them.
  const { log, troubles } = open(db.pool, { gatherMs: 1000 })
  log.add(entry(0))
  expect(await keys()).toEqual([])
  for (let n = 1; n < 5; n++) log.add(entry(n))
  await until(async () => (await keys()).length === 5, { what: 'five entries written' })
  const { rows } = await db.sql('SELECT DISTINCT xmin::text FROM rollcall.call')
  expect(rows).toHaveLength(1)
  log.add(entry(5))
  await until(async () => (await keys()).length === 6, { what: 'the sixth entry written' })
  expect(troubles).toEqual([])
})

test('keeps entries while the database is cut off, and tells of it once', async () => {
  const { log, troubles } = open(db.pool, { gatherMs: 3_600_000 })
  await db.sql(`ALTER TABLE rollcall.call RENAME TO gone`)
  log.add(entry(1))
  await log.flush()
  log.add(entry(2))
  await log.flush()
  expect(troubles).toMatchObject([{ error: { code: '42P01' } }])
  await db.sql(`ALTER TABLE rollcall.gone RENAME TO call`)
  await log.flush()
  expect(await keys()).toEqual(['c1', 'c2'])
  expect(troubles).toHaveLength(1)

  await db.sql(`ALTER TABLE rollcall.call RENAME TO gone`)
  log.add(entry(3))
  await log.flush()
  expect(troubles).toHaveLength(2)
})

test('more than it may keep is dropped, the oldest first, and said once it is over', async () => {
  const { log, troubles } = open(db.pool, { gatherMs: 3_600_000, mostKept: 10 })
  await db.sql(`ALTER TABLE rollcall.call RENAME TO gone`)
  for (let n = 0; n < 8; n++) log.add(entry(n))
  await log.flush()
  for (let n = 8; n < 25; n++) log.add(entry(n))
  await log.flush()
  await db.sql(`ALTER TABLE rollcall.gone RENAME TO call`)
  await log.flush()
  expect(await keys()).toEqual(Array.from({ length: 10 }, (_, n) => `c${n + 15}`))
  expect(troubles).toMatchObject([{ error: {} }, { dropped: 15 }])
})

test('an entry that no database takes is dropped with its batch, and holds up no process', async () => {
  const { log, troubles } = open(db.pool, { gatherMs: 3_600_000 })
  log.add({ ...entry(1), status: 99_999 })
  await log.flush()
  log.add(entry(2))
  await log.flush()
  expect(await keys()).toEqual(['c2'])
  expect(troubles).toMatchObject([{ error: {} }, { dropped: 1 }])
})

test('a database that hangs does not hold up the end for long', async () => {
  const { log, troubles } = open(db.pool, { gatherMs: 3_600_000 })
  await using blocker = await db.session()
  await blocker.query('BEGIN; LOCK TABLE rollcall.call')
  log.add(entry(1))
  const started = performance.now()
  await log.close()
  expect(performance.now() - started).toBeLessThan(8000)
  expect(troubles).toEqual([{ dropped: 1 }])
  await blocker.query('ROLLBACK')
})
