// Every call that the service got stands in the log of calls, once.
import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { many } from '../support/settled-house.ts'

const KINDS: FaultInput['action'][] = [
  { kind: 'drop-before' },
  { kind: 'drop-after' },
  { kind: 'hang-after' },
  { kind: 'status', status: 500, stored: true },
  { kind: 'status', status: 403 },
  { kind: 'status', status: 200, body: 'html', stored: true },
]

async function logged({ db }: House) {
  const { rows } = await db.sql<{ key: string; method: string; status: number | null }>(
    'SELECT key, method, status FROM rollcall.call ORDER BY at, id',
  )
  return rows
}

test('every call is logged once, under fire too', async () => {
  await using house = await buildHouse(lane, {
    contract: { refuses: 'description' },
    config: timed({ gapMs: 20, retryMinMs: 20, retryMaxMs: 200 }),
  })
  house.sandbox.faults.set(KINDS.map((action) => ({ rate: 0.04, action })))
  const worker = await house.startWorker()
  await house.settle(many(20))
  await house.settle(
    `UPDATE clientes SET nombre = 'Ana', notas = 'refused'; DELETE FROM clientes WHERE id = 'k3'`,
  )
  await worker.stop()

  const calls = await logged(house)
  const journal = house.sandbox.journal.list()
  expect(calls).toHaveLength(journal.length)
  for (let i = 1; i <= 20; i++) {
    const id = `k${i}`
    const mine = calls.filter(({ key }) => key === id)
    const served = journal.filter(({ userId }) => userId === id)
    const heard = mine.map(({ method, status }, n) => ({ method, status: status ?? served[n]?.status }))
    expect(heard, id).toEqual(served.map(({ method, status }) => ({ method, status })))
  }
  const { rows } = await house.sql<{ n: number }>('SELECT sum(count)::int AS n FROM rollcall.answer')
  expect(rows).toEqual([{ n: journal.length }])
})

test('what was under way when the worker stopped is logged as well', async () => {
  await using house = await buildHouse(lane)
  house.sandbox.faults.set([{ action: { kind: 'hang-after' } }])
  const worker = await house.startWorker()
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  await expect.poll(() => house.calls('c').length).toBe(1)
  await worker.stop(1)
  expect(await logged(house)).toEqual([{ key: 'c', method: 'POST', status: null }])
})

test('a worker drops from the log what is older than advanced.history.keepDays', async () => {
  await using house = await buildHouse(lane, { config: { advanced: { history: { keepDays: 3 } } } })
  await house.sql(
    `INSERT INTO rollcall.call (key, at, by, plan, method, meaning, ms, fields, answer)
     SELECT 'c', now() - days * interval '1 day', 'worker h/1', 'lookup', 'GET', 'failed', 1, '{}', 'x'
     FROM unnest('{2,4}'::int[]) days`,
  )
  await house.startWorker()
  await expect.poll(async () => (await logged(house)).length).toBe(1)
})
