// A session holds a lock and keeps it: every statement gives up after its time limit.
import type { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { makePool } from '../../src/database/pool.ts'
import { setCeiling } from '../../src/pace/row.ts'
import { buildHouse, type House } from '../support/house.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'
import { ask, insert, lane, open, printed, register } from './house.ts'

/** `await using holder = await holding(house, sql)`: the locks of a transaction, until the test is over. */
async function holding(house: House, sql: string) {
  const client = await house.db.pool.connect()
  await client.query('BEGIN')
  await client.query(sql)
  const release = async () => {
    await client.query('ROLLBACK')
    client.release()
  }
  return { query: (more: string) => client.query(more), [Symbol.asyncDispose]: release }
}

/** As the command's, with less patience. */
function impatient(house: House, statementTimeoutMs = 300): Pool {
  const pool = makePool({ url: house.db.url, max: 4, statementTimeoutMs, onError: () => undefined })
  onTestFinished(() => pool.end())
  return pool
}

const OTHERS_WAIT = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'rollcall'`

test('a locked row of the pace is no permit, whether the patience or the query ends first', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 2)
  await setCeiling(house.db.pool, 100)
  await using _holder = await holding(house, 'SELECT FROM rollcall.pace FOR UPDATE')
  const began = performance.now()
  const patienceFirst = await ask(house, 'c', { patienceMs: 200 })
  expect(patienceFirst).toMatchObject({
    service: { kind: 'not-asked', why: 'no-permit', waitMs: null },
    access: { can: 'unknown' },
  })
  const queryFirst = await ask(house, 'c', { patienceMs: 60_000, pool: impatient(house) })
  expect(queryFirst.service).toEqual({ kind: 'not-asked', why: 'no-permit', waitMs: null })
  expect(performance.now() - began).toBeLessThan(5000)
  expect(house.calls()).toEqual([])
})

test('locked customers are named, and a row that is locked later does not keep the service from being asked', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 2)
  const pool = impatient(house)
  await using before = await open(house, { pool })
  await using _holder = await holding(house, 'LOCK TABLE clientes IN ACCESS EXCLUSIVE MODE')
  await expect(open(house, { pool })).rejects.toMatchObject({
    code: 'TABLE_LOCKED',
    details: [expect.stringMatching(/^public\.clientes: no answer within ten seconds$/)],
  })
  const asked = await before.of('c')
  expect(asked).toMatchObject({
    service: { status: 2 },
    desired: { kind: 'unreadable', reason: { error: '57014' } },
  })
  expect(printed(asked)).toMatch(/row could not be read .*lock/)
})

test("locked tables of rollcall's own are waited for once, and done without", async () => {
  await using house = await buildHouse(lane)
  for (const id of ['c', 'd']) register(house, id, 2)
  const patienceMs = 3000
  const pool = impatient(house, patienceMs)
  await using access = await open(house, { pool })
  await using holder = await holding(house, 'LOCK TABLE rollcall.ledger IN ACCESS EXCLUSIVE MODE')
  expect(await access.of('c')).toMatchObject({ rollcall: { kind: 'locked' }, access: { can: 'yes' } })
  const began = performance.now()
  const second = await access.of('d')
  expect([second.rollcall.kind, performance.now() - began < patienceMs]).toEqual(['locked', true])
  expect(printed(second)).toMatch(/tables gave no answer/)
  await holder.query('ROLLBACK; BEGIN; LOCK TABLE rollcall.target IN ACCESS EXCLUSIVE MODE')
  expect((await ask(house, 'c', { pool: impatient(house) })).rollcall.kind).toBe('locked')
})

test('the command gives a locked table up by itself, and says what it waited for', async () => {
  await using house = await buildHouse(lane)
  await using _holder = await holding(house, 'LOCK TABLE clientes IN ACCESS EXCLUSIVE MODE')
  await using process = await runRollcall(house, ['access', 'c'])
  expect(await process.exited).toEqual({ code: 1, signal: null })
  expect(process.output()).toMatch(/public\.clientes: no answer/)
})

test.each([
  ['the customers', 'LOCK TABLE clientes IN ACCESS EXCLUSIVE MODE'],
  ['the pace', 'SELECT FROM rollcall.pace FOR UPDATE'],
])('an interrupt ends it at once while it waits for a lock on %s', async (_, lock) => {
  await using house = await buildHouse(lane)
  await setCeiling(house.db.pool, 100)
  await using _holder = await holding(house, lock)
  await using process = await runRollcall(house, ['access', 'c'])
  await until(async () => (await house.sql(OTHERS_WAIT)).rowCount)
  const began = performance.now()
  process.kill('SIGINT')
  expect(await process.exited).toEqual({ code: 1, signal: null })
  expect(performance.now() - began).toBeLessThan(8000)
  expect(process.output()).toMatch(/^rollcall: stopped; nothing [^\n]*\n$/)
})

test('an interrupt ends it at once while the service does not answer', async () => {
  await using house = await buildHouse(lane, {
    config: { service: { timeoutMs: 60_000 }, advanced: { timing: { lifetimeMs: 125_000 } } },
  })
  house.sandbox.faults.set([{ match: {}, action: { kind: 'latency', minMs: 50_000, maxMs: 50_000 } }])
  await using process = await runRollcall(house, ['access', 'c'])
  await until(() => house.sandbox.journal.list().length > 0)
  const began = performance.now()
  process.kill('SIGINT')
  expect(await process.exited).toEqual({ code: 1, signal: null })
  expect(performance.now() - began).toBeLessThan(8000)
  expect(process.output()).toMatch(/^rollcall: stopped; nothing [^\n]*\n$/)
})
