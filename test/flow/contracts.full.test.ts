// A person with several contracts, each of them a row: one user, which the end of one contract must leave to the others.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { verified } from '../support/at-rest.ts'
import { rollcall } from '../support/command.ts'
import { runDrift } from '../support/drift-command.ts'
import { buildHouse, CONFIG, type House, PATIENT } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

const SQL = `CREATE TABLE contracts (person text, contract text, active boolean, plan text, email text, PRIMARY KEY (person, contract))`
const SETTINGS: Partial<RollcallConfig> = {
  customers: { table: 'public.contracts', key: ['person', 'contract'] },
  scope: { column: 'active', in: [true] },
  mapping: { user_id: 'person', status: CONFIG.mapping.status, email: 'email' },
}

type Options = { readonly config?: Partial<RollcallConfig>; readonly contract?: object }

/** `p` has a contract `1` that is active, and where asked for one that is not. */
async function open({ config = {}, contract = {} }: Options = {}): Promise<House> {
  return await buildHouse(lane, { sql: SQL, config: { ...SETTINGS, ...config }, contract })
}

const add = ({ db }: House, contract: string, active = true, plan = 'premium') =>
  db.sql(`INSERT INTO contracts VALUES ('p', $1, $2, $3, 'p@p.es')`, [contract, active, plan])

/** One that has left may stay unknown, where another one has the user. */
const nothingOwed = ({ db }: House) =>
  until(async () => {
    const { rows } = await db.sql(
      `SELECT FROM rollcall.owed WHERE due_at IS NOT NULL UNION ALL SELECT FROM rollcall.outbox`,
    )
    return rows.length === 0
  })

test.each([true, false])(
  'a contract that begins while the access of another one is taken keeps it (known: %s)',
  async (known) => {
    await using house = await open({ config: PATIENT })
    await house.startWorker()
    await add(house, '1')
    await house.settled()
    if (known) await add(house, '2', false)
    await house.settled()
    house.sandbox.faults.set([
      { match: { method: 'PATCH' }, times: 1, action: { kind: 'latency', minMs: 900, maxMs: 900 } },
    ])
    await house.sql(`UPDATE contracts SET active = false WHERE contract = '1'`)
    await until(() => house.sandbox.faults.list().some(({ spent }) => spent))
    if (known) await house.sql(`UPDATE contracts SET active = true WHERE contract = '2'`)
    else await add(house, '2')
    await house.settled()
    expect(house.sandbox.users.access('p')).toBe('full')
  },
)

test.each(['POST', 'PATCH'] as const)(
  'a customer who leaves the scope after a %s that a crash hides loses access',
  async (method) => {
    await using house = await open()
    house.sandbox.faults.set([{ match: { method }, times: 1, action: { kind: 'hang-after' } }])
    if (method === 'PATCH') house.sandbox.users.set('p', { status: 0 })
    await using first = await runRollcall(house, ['worker'])
    await add(house, '1')
    await until(() => house.sandbox.users.get('p')?.status === 2)
    first.kill('SIGKILL')
    await first.exited
    await house.sql('UPDATE contracts SET active = false')
    await house.startWorker()
    await house.settled()
    expect(house.sandbox.users.access('p')).toBe('none')
  },
)

test('a 404 that a gateway gives once leaves no access where a contract without access takes over', async () => {
  await using house = await open({ config: { createWithoutAccess: false } })
  await house.startWorker()
  await add(house, '1')
  await house.settled()
  house.sandbox.faults.set([{ times: 1, action: { kind: 'status', status: 404 } }])
  await house.sql(`UPDATE contracts SET contract = '2', plan = 'free'`)
  await until(() => house.sandbox.faults.list().some(({ spent }) => spent))
  await house.settled()
  await verified(house.db.pool)
  expect(house.sandbox.users.access('p')).toBe('none')
})

test('a user is checked also where a contract has left after an answer that was lost', async () => {
  await using house = await open()
  const worker = await house.startWorker()
  await add(house, '1')
  await house.settled()
  house.sandbox.faults.set([{ match: { method: 'PATCH' }, times: 1, action: { kind: 'drop-after' } }])
  await house.sql(`UPDATE contracts SET email = 'q@q.es'`)
  await until(async () => (await house.sql('SELECT FROM rollcall.owed WHERE unknown')).rowCount)
  await house.sql(`UPDATE contracts SET contract = '2'`)
  await nothingOwed(house)
  await house.sql('UPDATE rollcall.owed SET verify_at = NULL, verify_left = 0')
  await worker.stop()
  house.sandbox.users.edit('p', { status: 0 })
  const { code, out } = await runDrift(house, ['--json'])
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, findings: [{ key: '["p", "2"]' }] })
})

test('a key that changes keeps what a lookup has found of its user: no new trial, nothing of others lost', async () => {
  await using house = await open({ contract: { duplicate: 'upsert', trialAgain: 'restarts' } })
  const { users, clock } = house.sandbox
  users.set('p', { status: 4, email: 'p@p.es', description: 'of another system' })
  await house.sql('ALTER TABLE contracts DISABLE TRIGGER USER')
  await add(house, '1', true, 'trial')
  await house.sql('ALTER TABLE contracts ENABLE TRIGGER USER')
  await house.startWorker()
  expect((await rollcall(house, 'backfill', '--lookup', '--wait')).code).toBe(0)
  await house.settled()
  clock.advance(20 * 86_400_000)
  await house.settle(`UPDATE contracts SET contract = '2'`)
  expect(users.access('p')).not.toBe('trial')
  expect(users.get('p')?.description).toBe('of another system')
})

test('a person is not erased while a row of it is there, and is with the last one', async () => {
  await using house = await open({ config: { onRemove: 'erase' } })
  await house.startWorker()
  await add(house, '1')
  await house.settled()
  await add(house, '2', false)
  await house.settled()
  await house.settle(`DELETE FROM contracts WHERE contract = '1'`)
  expect(house.sandbox.users.get('p')).toMatchObject({ status: 0, email: 'p@p.es' })
  await house.settle('DELETE FROM contracts')
  expect(house.sandbox.users.get('p')).toMatchObject({ status: 0, email: null })
})

test('a customer that was never in scope leaves its user alone, also with its row', async () => {
  await using house = await open()
  house.sandbox.users.set('p', { status: 2 })
  await house.startWorker()
  for (const contract of ['1', '2']) await add(house, contract, false)
  await house.settled()
  await house.settle('DELETE FROM contracts')
  expect(house.calls()).toEqual([])
})

test('a row that cannot be read costs no other contract of the person its access', async () => {
  const sql = `${SQL.replace('contracts', 'kept').replace('email text', 'email text, months int DEFAULT 1')};
    CREATE VIEW contracts AS SELECT person, contract, active, CASE WHEN 12 / months > 0 THEN plan END AS plan, email FROM kept`
  const config = {
    ...SETTINGS,
    customers: { view: 'public.contracts', key: ['person', 'contract'] },
    watch: [{ table: 'public.kept', key: ['person', 'contract'] }],
  }
  await using house = await buildHouse(lane, { sql, config })
  await house.sql(`INSERT INTO kept VALUES ('p', '1', false, 'premium', NULL, 1)`)
  await house.startWorker()
  await house.settled()
  await house.sql(`UPDATE kept SET months = 0; INSERT INTO kept VALUES ('p', '2', true, 'premium')`)
  await until(() => house.sandbox.users.access('p') === 'full')
})

test.each([
  ['GET', 'p@p.es'],
  ['PATCH', 'new@p.es'],
] as const)(
  'a %s that was answered late does not outweigh the update that came meanwhile',
  async (method, email) => {
    await using house = await open({ config: PATIENT })
    const { faults, users } = house.sandbox
    await house.startWorker()
    await add(house, '1')
    await house.settled()
    faults.set([
      {
        match: { method: 'PATCH', status: 0 },
        times: 1,
        action: { kind: 'latency', minMs: 900, maxMs: 900 },
      },
      { match: { method }, times: 1, action: { kind: 'slow-body', durationMs: 2500 } },
    ])
    await house.sql(`UPDATE contracts SET plan = 'free'`)
    await until(() => faults.list().some(({ spent }) => spent))
    await house.settle(
      `WITH ended AS (UPDATE contracts SET active = false) INSERT INTO contracts VALUES ('p', '2', true, 'premium', $1)`,
      [email],
    )
    expect(users.access('p')).toBe('full')
  },
)

test('a contract that is dormant costs no call, grants no trial again, and undoes no decision', async () => {
  const brake = { changes: { customers: 1, share: 0 } }
  await using house = await open({ config: { brake }, contract: { trialAgain: 'restarts' } })
  const { faults, users, clock } = house.sandbox
  await house.startWorker()
  await add(house, '0', false, 'trial')
  await add(house, '1', true, 'trial')
  await house.settled()
  faults.set([{ match: { method: 'PATCH' }, times: 1, action: { kind: 'latency', minMs: 500, maxMs: 500 } }])
  await house.sql(`UPDATE contracts SET active = false WHERE contract = '1'`)
  await until(() => faults.list().some(({ spent }) => spent))
  await house.settle(`UPDATE contracts SET active = true WHERE contract = '1'`)
  clock.advance(20 * 86_400_000)
  const before = house.calls().length
  const touch = async () => {
    await house.settle(`UPDATE contracts SET email = email || 'x' WHERE contract = '0'`)
  }
  for (const _ of ['once', 'again']) await touch()
  expect(users.access('p')).toBe('trial-over')
  expect(house.calls().length).toBe(before)

  await house.sql(`INSERT INTO contracts SELECT 'k' || i, '1', true, 'premium' FROM generate_series(1, 4) i`)
  await house.settle(
    `INSERT INTO contracts SELECT 'k' || i, '0', false, 'premium' FROM generate_series(1, 4) i`,
  )
  await house.settle(`UPDATE contracts SET active = false WHERE person <> 'p'`)
  expect((await rollcall(house, 'held', 'discard', '--kind', 'revocation', '--why', 'test')).code).toBe(0)
  const entitled = () => users.all().filter(({ status }) => status === 2).length
  const kept = entitled()
  expect(kept).toBeGreaterThan(1)
  await touch()
  expect(entitled()).toBe(kept)
  // A contract that begins and ends later is none of what was decided.
  await house.settle(
    `UPDATE contracts SET active = true, email = 'n@a.es' WHERE contract = '0' AND person = 'k4'`,
  )
  await house.settle(`UPDATE contracts SET active = false WHERE contract = '0' AND person = 'k4'`)
  expect(users.access('k4')).toBe('none')
})

/** Ten persons, each with a contract that is active and one that is not, and no lookup to come. */
async function openMany(plan: string, options: Options): Promise<House> {
  const house = await open(options)
  await house.startWorker()
  await house.sql(
    `INSERT INTO contracts SELECT 'p' || i, c, c = '1', $1, i || '@p.es' FROM generate_series(0, 9) i, unnest(ARRAY['1', '2']) c`,
    [plan],
  )
  await verified(house.db.pool)
  return house
}

test('a change to both rows of a person costs one call, also once an answer was lost', async () => {
  const timing = { ...PATIENT.advanced.timing, lifetimeMs: 10_000 }
  await using house = await openMany('premium', {
    config: { ...PATIENT, service: { timeoutMs: 3000 }, advanced: { timing } },
  })
  const costs = async (sql: string) => {
    const before = house.calls().length
    await house.sql(sql)
    await verified(house.db.pool)
    return house
      .calls()
      .slice(before)
      .map(({ method }) => method)
  }
  const both = `UPDATE contracts SET email = 'x' || email`
  expect(await costs(both)).toEqual(Array(10).fill('PATCH'))

  house.sandbox.faults.set([{ match: { method: 'PATCH' }, times: 1, action: { kind: 'drop-after' } }])
  await house.sql(`UPDATE contracts SET email = 'x' || email WHERE person = 'p1'`)
  await until(async () => (await house.sql('SELECT FROM rollcall.owed WHERE unknown')).rowCount)
  await house.sql(`UPDATE contracts SET active = NOT active WHERE person = 'p1'`)
  await verified(house.db.pool)
  expect(await costs(both)).toEqual(Array(10).fill('PATCH'))
})

test('a trial that has ended is not granted again by a contract that begins in the midst of a change', async () => {
  await using house = await openMany('trial', { config: PATIENT, contract: { trialAgain: 'restarts' } })
  house.sandbox.clock.advance(20 * 86_400_000)
  const change = async (_: unknown, at: number) => {
    await sleep(at * 150)
    await house.sql(`UPDATE contracts SET email = 'x' || email WHERE person = 'p' || $1`, [at])
    await sleep(at * 60)
    await house.sql(`UPDATE contracts SET active = NOT active WHERE person = 'p' || $1`, [at])
  }
  await Promise.all(Array.from({ length: 10 }, change))
  await verified(house.db.pool)
  const again = house.sandbox.users
    .all()
    .filter(({ user_id }) => house.sandbox.users.access(user_id) === 'trial')
  expect(again).toEqual([])
})
