import { beforeEach, expect, test } from 'vitest'
import { type CallEntry, OTHERS, pruneCalls, writeCalls } from '../../src/ledger/calls.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

const T = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const ENTRY: CallEntry = {
  key: 'c1',
  atMs: T,
  plan: 'patch',
  method: 'PATCH',
  status: 200,
  error: null,
  meaning: 'done',
  ms: 12.4,
  fields: ['status', 'email'],
  body: 'readable',
  shape: '{}',
}
const ONCE = { by: 'worker h/1', again: false }

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
  return () => db.drop()
})

async function answers() {
  const { rows } = await db.sql(
    `SELECT fingerprint, method, status, error, body, shape, meaning, count::int, first_at AS first, last_at AS last,
       last_key AS key FROM rollcall.answer ORDER BY status, method, shape`,
  )
  return rows
}

async function callCount(): Promise<number> {
  const { rows } = await db.sql<{ n: number }>('SELECT count(*)::int AS n FROM rollcall.call')
  return rows[0]?.n ?? -1
}

test('writes calls down, and counts equal answers in one row', async () => {
  const later = { ...ENTRY, key: 'c2', atMs: T + 1000, fields: [] }
  const refused = { ...ENTRY, status: 422, meaning: 'refused', shape: '{error: string}', body: 'error' }
  const lost = { ...ENTRY, status: null, error: 'timeout', meaning: 'unknown', shape: null, body: null }
  await writeCalls(db.pool, [later, ENTRY], ONCE)
  await writeCalls(db.pool, [refused, lost], { ...ONCE, by: 'sync h/2' })

  const { rows } = await db.sql(
    'SELECT c.*, a.count::int FROM rollcall.call c JOIN rollcall.answer a ON a.fingerprint = c.answer ORDER BY c.id',
  )
  expect(rows).toMatchObject([
    { key: 'c1', at: new Date(T), by: 'worker h/1', plan: 'patch', status: 200, ms: 12, count: 2 },
    { key: 'c2', fields: [], meaning: 'done', count: 2 },
    { by: 'sync h/2', status: 422, error: null, meaning: 'refused', count: 1 },
    { status: null, error: 'timeout', fields: ['status', 'email'], count: 1 },
  ])
  expect(await answers()).toMatchObject([
    {
      method: 'PATCH',
      status: 200,
      shape: '{}',
      count: 2,
      first: new Date(T),
      last: new Date(T + 1000),
      key: 'c2',
    },
    { status: 422, body: 'error', shape: '{error: string}', meaning: 'refused', count: 1 },
    { status: null, error: 'timeout', body: null, shape: null, count: 1 },
  ])
})

test('a value with an unknown outcome is written once when it is written again', async () => {
  const other = { ...ENTRY, atMs: T + 1 }
  await writeCalls(db.pool, [ENTRY], ONCE)
  await writeCalls(db.pool, [ENTRY, other], { ...ONCE, again: true })
  expect(await callCount()).toBe(2)
  expect(await answers()).toMatchObject([{ count: 2 }])
})

test('beyond the limit new answers are counted together, and known ones go on by themselves', async () => {
  const shapes = ['{a: null}', '{b: null}', '{c: null}', '{d: null}'].map((shape) => ({ ...ENTRY, shape }))
  const limited = { ...ONCE, mostAnswers: 2 }
  await writeCalls(db.pool, shapes.slice(0, 1), limited)
  await writeCalls(db.pool, shapes, limited)
  await writeCalls(db.pool, [...shapes, { ...ENTRY, method: 'PUT', status: 202 }], limited)
  const found = await answers()
  expect(found.filter(({ shape }) => shape !== OTHERS)).toHaveLength(2)
  expect(found.filter(({ shape }) => shape === OTHERS)).toMatchObject([
    { method: 'PATCH', status: null, body: null, meaning: 'done', count: 4 },
    { method: 'PUT', status: null, count: 1 },
  ])
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(10)
  const { rows } = await db.sql(
    'SELECT FROM rollcall.call WHERE answer NOT IN (SELECT fingerprint FROM rollcall.answer)',
  )
  expect(rows).toEqual([])
})

test('processes that write the same answers at once neither deadlock nor lose any', async () => {
  const entries = Array.from({ length: 40 }, (_, n) => ({
    ...ENTRY,
    key: `c${n}`,
    shape: `{k${n % 20}: null}`,
  }))
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    const mine = writer % 2 === 0 ? entries : entries.toReversed()
    for (let round = 0; round < 5; round++)
      await writeCalls(db.pool, mine, { ...ONCE, by: `worker h/${writer}` })
  })
  await Promise.all(writers)
  expect(await callCount()).toBe(8 * 5 * 40)
  const found = await answers()
  expect(found).toHaveLength(20)
  for (const { count } of found) expect(count).toBe(8 * 5 * 2)
  const { rows } = await db.sql<{ n: number }>(
    'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  expect(rows).toEqual([{ n: 0 }])
})

test('calls are pruned by age, in batches, and at most as many as are asked for', async () => {
  const days = (n: number) => Date.now() - n * 86_400_000
  const old = Array.from({ length: 5100 }, (_, n) => ({ ...ENTRY, key: `old${n}`, atMs: days(15) }))
  for (let at = 0; at < old.length; at += 1000) await writeCalls(db.pool, old.slice(at, at + 1000), ONCE)
  await writeCalls(db.pool, [{ ...ENTRY, key: 'young', atMs: days(13) }], ONCE)
  expect(await pruneCalls(db.pool, 14, 50)).toBe(50)
  expect(await pruneCalls(db.pool, 14, 100_000)).toBe(5050)
  expect(await callCount()).toBe(1)
  expect(await pruneCalls(db.pool, 14, 100_000)).toBe(0)
})
