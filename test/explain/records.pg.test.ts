import { expect, test } from 'vitest'
import { makePool } from '../../src/database/pool.ts'
import { bindTarget } from '../../src/ledger/target.ts'
import { setCeiling } from '../../src/pace/row.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { buildHouse, SECRETS } from '../support/house.ts'
import { holdCalls } from '../support/pace-row.ts'
import { settleOnce } from '../support/settled-house.ts'
import { ask, insert, lane, printed, register, toDo } from './house.ts'

const DIGEST = { digestKey: SECRETS.ROLLCALL_DIGEST_KEY }

test('what rollcall owes is printed, from the captured change to the settled one, and so is what to do', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 0)
  const captured = await ask(house, 'c')
  expect(captured).toMatchObject({
    access: { can: 'no', why: 'no-access' },
    drift: { kind: 'differs', fields: ['status'], access: 'lost' },
    remedies: [{ do: 'wait', waitMs: null }],
    rollcall: { kind: 'known', history: { owed: true, capturedMs: expect.any(Number) } },
  })
  expect(printed(captured)).toContain('differs: status')

  await house.sql(`UPDATE rollcall.outbox SET at = at - interval '2 hours'`)
  const waiting = await ask(house, 'c')
  expect([toDo(waiting)[0], printed(waiting)]).toEqual([
    'start-worker',
    expect.stringContaining('captured 2 h ago'),
  ])

  await settleOnce(house)
  const settled = await ask(house, 'c', DIGEST)
  expect(settled).toMatchObject({ access: { can: 'yes', why: 'full' }, result: 'same', remedies: [] })
  expect(printed(settled)).toMatch(/sync +not owed; the last accepted write was/)

  await house.sql(`UPDATE clientes SET plan = 'free', correo = 'new@example.org'`)
  expect((await ask(house, 'c', DIGEST)).plan).not.toHaveProperty('statusFirst')
  await house.sql('UPDATE rollcall.owed SET attempts = 3')
  expect((await ask(house, 'c', DIGEST)).plan).toHaveProperty('statusFirst', true)
})

test('after a TRUNCATE, a customer without a row is to be restored, and neither synced nor released', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  await settleOnce(house)
  await house.sql('TRUNCATE clientes')
  const lost = await ask(house, 'c', DIGEST)
  expect([lost.result, toDo(lost)]).toEqual(['differs', ['restore-rows']])
  expect(printed(lost)).toMatch(/to do +public.clientes was truncated .* restore the rows/)
  expect(printed(lost)).not.toMatch(/rollcall (sync|held)/)
})

test('without rollcall in the database, and with rights to read the customers alone, it is answered all the same', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  register(house, 'c', 0)
  const role = await house.db.makeRole()
  await house.sql(`GRANT SELECT ON clientes TO ${role.name}`)
  const reading = makePool({ url: role.url, max: 1, onError: () => undefined })
  const asReader = { ...house, db: { ...house.db, pool: reading } }
  expect(await ask(asReader, 'c')).toMatchObject({
    access: { why: 'no-access' },
    rollcall: { kind: 'no-right' },
    remedies: [{ do: 'sync', waitMs: null }],
  })
  await house.sql('DROP TABLE rollcall.owed CASCADE')
  expect((await ask(asReader, 'c')).rollcall.kind).toBe('not-migrated')
  await reading.end()
  await house.sql('DROP SCHEMA rollcall CASCADE')
  expect(await ask(house, 'c')).toMatchObject({
    rollcall: { kind: 'not-migrated' },
    remedies: [{ do: 'migrate', waitMs: null }],
  })
})

test('records about another service are not shown as if they were about this one', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  await settleOnce(house)
  const other = await startSandbox({ apiKey: SECRETS.SERVICE_API_KEY, secretKey: SECRETS.SERVICE_SECRET_KEY })
  try {
    const elsewhere = await ask(house, 'c', { origin: other.url, ...DIGEST })
    expect(elsewhere).toMatchObject({
      access: { why: 'not-registered' },
      rollcall: { kind: 'other-target' },
      remedies: [{ do: 'name-target', waitMs: null }],
    })
    expect(printed(elsewhere)).toContain(`SERVICE_URL was ${house.sandbox.url}`)
  } finally {
    await other.stop()
  }
  const rekeyed = await ask(house, 'c', { digestKey: 'another-digest-key-of-thirty-two-chars' })
  expect(rekeyed).toMatchObject({ result: 'same', remedies: [{ do: 'name-target' }] })
  expect(printed(rekeyed)).toMatch(
    /If SERVICE_API_KEY .* wrong, correct it.*`rollcall migrate --target same`/s,
  )
  expect(printed(rekeyed)).toMatch(/SERVICE_API_KEY .*has changed/)
  expect((await ask(house, 'c')).rollcall.kind).toBe('known')
})

test('the pace of another target is not kept', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  register(house, 'c', 2)
  await setCeiling(pool, 100)
  await holdCalls(pool, 3_600_000)
  expect((await ask(house, 'c', { patienceMs: 200 })).service).toMatchObject({ why: 'no-permit' })
  const apiKey = SECRETS.SERVICE_API_KEY
  await bindTarget(pool, { origin: 'https://other.example', apiKey, digestKey: DIGEST.digestKey })
  const asked = await ask(house, 'c', { patienceMs: 200 })
  expect(asked).toMatchObject({ service: { status: 2 }, rollcall: { kind: 'other-target' } })
})
