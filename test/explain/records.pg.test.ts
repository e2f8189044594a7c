import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { makePool } from '../../src/database/pool.ts'
import { bindTarget } from '../../src/ledger/target.ts'
import { holdOff, setCeiling } from '../../src/pace/row.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, SECRETS } from '../support/house.ts'
import { ask, deeds, insert, lane, open, register, told } from './house.ts'

const DIGEST = { digestKey: SECRETS.ROLLCALL_DIGEST_KEY }

test('what rollcall owes is told, from the captured change to the settled one, and so is what to do', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 0)
  const captured = await ask(house, 'c')
  expect(captured).toMatchObject({
    access: { can: 'no', why: 'no-access' },
    drift: { kind: 'differs', fields: ['status'], access: 'lost' },
    remedies: [{ do: 'wait', waitMs: null }],
    rollcall: { kind: 'known', history: { owed: false, capturedMs: expect.any(Number) } },
  })
  expect(told(captured)).toContain('differs: status')

  await house.db.pool.query(`UPDATE rollcall.outbox SET at = at - interval '2 hours'`)
  const waiting = await ask(house, 'c')
  expect([deeds(waiting)[0], told(waiting)]).toEqual([
    'start-worker',
    expect.stringContaining('captured 2 h ago'),
  ])

  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  const settled = await ask(house, 'c', DIGEST)
  expect(settled).toMatchObject({ access: { can: 'yes', why: 'full' }, result: 'same', remedies: [] })
  expect(told(settled)).toMatch(/rollcall +nothing owed, last written/)
})

test('a customer who is rejected or failing is told with the reason, and when the next attempt is', async () => {
  await using house = await buildHouse(lane)
  house.sandbox.faults.set([{ match: { method: 'POST' }, action: { kind: 'status', status: 429 } }])
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await expect
    .poll(
      async () => (await house.db.pool.query(`SELECT FROM rollcall.ledger WHERE state = 'failing'`)).rowCount,
    )
    .toBe(1)
  await worker.stop()
  await house.db.pool.query(`UPDATE rollcall.owed SET due_at = now() + interval '90 seconds', token = NULL`)
  const failing = await ask(house, 'c')
  expect(deeds(failing)).toEqual(['wait'])
  expect(told(failing)).toMatch(/owed for .*, next attempt in (89|90) s, .*; failing \(later 429/)

  await house.db.pool.query(`
    UPDATE rollcall.owed SET due_at = NULL;
    UPDATE rollcall.ledger SET state = 'rejected', reason = '{"code": "refused", "status": 422}'`)
  const rejected = await ask(house, 'c')
  expect([deeds(rejected)[0], told(rejected)]).toEqual([
    'correct',
    expect.stringContaining('nothing owed; rejected (refused 422)'),
  ])
})

test('a difference that rollcall does not know of is cured by the sync that looks', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  house.sandbox.users.edit('c', { status: 0 })
  const changed = await ask(house, 'c', DIGEST)
  expect(changed).toMatchObject({
    drift: { fields: ['status'], cause: 'edited-at-service' },
    remedies: [{ do: 'sync', waitMs: null }],
  })
  expect(told(changed)).toContain('  to do     `rollcall sync c --look`\n')
  house.sandbox.users.delete('c')
  const vanished = await ask(house, 'c', DIGEST)
  expect(vanished).toMatchObject({
    drift: { kind: 'missing' },
    remedies: [{ do: 'sync', waitMs: null }],
  })
  // And what it says is so.
  expect((await rollcall(house, 'sync', 'c', '--look')).code).toBe(0)
  expect(await ask(house, 'c', DIGEST)).toMatchObject({ access: { why: 'full' }, remedies: [] })
})

test('without rollcall in the database, and with rights to read the customers alone, it is answered all the same', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 0)
  const { pool } = house.db
  await asReaderOf(house, async (reading) => {
    const asReader = { ...house, db: { ...house.db, pool: reading } }
    expect(await ask(asReader, 'c')).toMatchObject({
      access: { why: 'no-access' },
      rollcall: { kind: 'no-right' },
      remedies: [{ do: 'sync', waitMs: null }],
    })
    await pool.query('DROP TABLE rollcall.owed CASCADE')
    expect((await ask(asReader, 'c')).rollcall.kind).toBe('not-migrated')
  })
  await pool.query('DROP SCHEMA rollcall CASCADE')
  expect(await ask(house, 'c')).toMatchObject({
    rollcall: { kind: 'not-migrated' },
    remedies: [{ do: 'migrate', waitMs: null }],
  })
})

test('tables of another version are said to be that', async () => {
  await using house = await buildHouse(lane)
  await house.db.pool.query('DELETE FROM rollcall.migration')
  expect((await ask(house, 'c')).rollcall.kind).toBe('not-migrated')
})

test('records about another service are not shown as if they were about this one', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  const other = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
  })
  try {
    const elsewhere = await ask(house, 'c', { origin: other.url, ...DIGEST })
    expect(elsewhere).toMatchObject({
      access: { why: 'not-registered' },
      rollcall: { kind: 'other-target' },
      remedies: [{ do: 'name-target', waitMs: null }],
    })
    expect(told(elsewhere)).toContain(`SERVICE_URL was ${house.sandbox.url}`)
  } finally {
    await other.stop()
  }
  const rekeyed = await ask(house, 'c', { digestKey: 'another-digest-key-of-thirty-two-chars' })
  expect(rekeyed).toMatchObject({ result: 'same', remedies: [{ do: 'name-target' }] })
  expect(told(rekeyed)).toMatch(/correct the variable .*`rollcall migrate --target same\|new`/s)
  expect(told(rekeyed)).toMatch(/SERVICE_API_KEY .*another/)
  // Without the key it cannot be compared, and is believed.
  expect((await ask(house, 'c')).rollcall.kind).toBe('known')
})

test('a write of a moment ago that the service does not show yet is to be asked for again', async () => {
  await using house = await buildHouse(lane, {
    config: { timing: { consistencyDelayMs: 60_000, lifetimeMs: 60_000 } },
  })
  await insert(house, 'c', 'premium')
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
  house.sandbox.users.edit('c', { status: 0 })
  expect(await ask(house, 'c', DIGEST)).toMatchObject({
    drift: { fields: ['status'] },
    remedies: [{ do: 'try-later', waitMs: expect.any(Number) }],
  })
})

test('the pace of another target is not kept', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  register(house, 'c', 2)
  await setCeiling(pool, 100)
  await holdOff(pool, 3_600_000)
  expect((await ask(house, 'c', { patienceMs: 200 })).service).toMatchObject({ why: 'no-permit' })
  const apiKey = SECRETS.SERVICE_API_KEY
  await bindTarget(pool, { origin: 'https://other.example', apiKey, digestKey: DIGEST.digestKey })
  const asked = await ask(house, 'c', { patienceMs: 200 })
  expect(asked).toMatchObject({ service: { status: 2 }, rollcall: { kind: 'other-target' } })
})

test('a right that is taken away meanwhile is a refusal, and not another version of the tables', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  await asReaderOf(house, async (reading, role) => {
    await pool.query(
      `GRANT USAGE ON SCHEMA rollcall TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA rollcall TO ${role}`,
    )
    await using explain = await open(house, { pool: reading })
    expect((await explain.of('c')).rollcall.kind).toBe('known')
    await pool.query(`REVOKE SELECT ON rollcall.ledger FROM ${role}`)
    await expect(explain.of('c')).rejects.toMatchObject({ code: '42501' })
  })
})

/** Connects as a role that may read the customers and nothing else. */
async function asReaderOf(house: House, work: (reading: Pool, role: string) => Promise<void>): Promise<void> {
  const { pool } = house.db
  const role = `reader_${house.db.name}`
  await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT SELECT ON clientes TO ${role}`)
  const url = new URL(house.db.url)
  url.username = role
  url.password = 'p'
  const reading = makePool({ url: url.href, max: 1, onError: () => undefined })
  try {
    await work(reading, role)
  } finally {
    await reading.end()
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  }
}
