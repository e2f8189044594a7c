// Every call that the service got stands in the log of calls, once, and no customer's data does.
import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, CONFIG, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

const KINDS: FaultInput['action'][] = [
  { kind: 'drop-before' },
  { kind: 'drop-after' },
  { kind: 'hang-after' },
  { kind: 'status', status: 500, stored: true },
  { kind: 'status', status: 403 },
  { kind: 'status', status: 200, body: 'html', stored: true },
]

/** What is looked for in the tables; none of it is a word that stands there anyway. */
const VALUES = [
  'Zoraida',
  'Quintanilla',
  'example.org',
  '12345678Z',
  '1980-02-29',
  '600123456',
  'Cobertura9',
  'secreta',
]

async function logged({ db }: House) {
  const { rows } = await db.pool.query<{ key: string; method: string; status: number | null }>(
    'SELECT key, method, status FROM rollcall.call ORDER BY at, id',
  )
  return rows
}

/** Both tables as text, without the columns whose matter is the key. */
async function tables({ db }: House): Promise<string> {
  const { rows } = await db.pool.query<{ text: string }>(
    `SELECT coalesce(string_agg(t, E'\\n'), '') AS text FROM (
       SELECT (to_jsonb(c) - 'key')::text FROM rollcall.call c
       UNION ALL SELECT (to_jsonb(a) - 'last_key')::text FROM rollcall.answer a) s (t)`,
  )
  return rows[0]?.text ?? ''
}

test('every call is logged once, under fire too, and no value gets into the log', async () => {
  await using house = await buildHouse(lane, {
    contract: { refuses: 'description' },
    config: { timing: { ...CONFIG.timing, gapMs: 20, retryMinMs: 20, retryMaxMs: 200 } },
  })
  house.sandbox.faults.set(KINDS.map((action) => ({ rate: 0.04, action })))
  const worker = await house.startWorker()
  const { pool } = house.db
  await pool.query(
    `INSERT INTO clientes (id, plan, nombre, apellidos, correo, dni, nacido, movil, prefijo, cobertura, notas, pais)
     SELECT 'userkey' || i, 'premium', 'Zoraida', 'Quintanilla', 'zoraida' || i || '@example.org', '12345678Z',
       '1980-02-29', '600123456', '34', 'Cobertura9', 'nota secreta', 'ES' FROM generate_series(1, 20) i`,
  )
  await house.settled()
  await pool.query(`UPDATE clientes SET nombre = 'Zoraida II'`)
  await pool.query(`DELETE FROM clientes WHERE id = 'userkey3'`)
  await house.settled()
  await worker.stop()

  const calls = await logged(house)
  const journal = house.sandbox.journal.list()
  expect(calls).toHaveLength(journal.length)
  for (let i = 1; i <= 20; i++) {
    const id = `userkey${i}`
    const mine = calls.filter(({ key }) => key === id)
    const served = journal.filter(({ userId }) => userId === id)
    expect(
      mine.map(({ method }) => method),
      id,
    ).toEqual(served.map(({ method }) => method))
    mine.forEach(({ status }, n) => {
      if (status !== null) expect(status).toBe(served[n]?.status)
    })
  }
  const { rows } = await pool.query<{ n: number }>('SELECT sum(count)::int AS n FROM rollcall.answer')
  expect(rows).toEqual([{ n: journal.length }])

  const text = await tables(house)
  expect(text).toContain('first_name')
  expect(text).toContain('worker ')
  for (const value of [...VALUES, 'userkey']) expect(text.toLowerCase()).not.toContain(value.toLowerCase())
})

test('what was under way when the worker stopped is logged as well', async () => {
  await using house = await buildHouse(lane)
  house.sandbox.faults.set([{ action: { kind: 'hang-after' } }])
  const worker = await house.startWorker()
  await house.db.pool.query(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  await expect.poll(() => house.calls('c').length).toBe(1)
  await worker.stop(1)
  expect(await logged(house)).toEqual([{ key: 'c', method: 'POST', status: null }])
})

test('a worker drops from the log what is older than history.keepDays', async () => {
  await using house = await buildHouse(lane, { config: { history: { keepDays: 3 } } })
  const { pool } = house.db
  await pool.query(
    `INSERT INTO rollcall.call (key, at, by, plan, method, meaning, ms, fields, answer)
     SELECT 'c', now() - days * interval '1 day', 'worker h/1', 'lookup', 'GET', 'failed', 1, '{}', 'x'
     FROM unnest('{2,4}'::int[]) days`,
  )
  await house.startWorker()
  await expect.poll(async () => (await logged(house)).length).toBe(1)
})
