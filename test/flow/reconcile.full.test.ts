// A running worker checks all users, again and again: it finds each change at the service, and reports no other
// user.
import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { readNotCredible } from '../../src/drift/coverage.ts'
import { countOpen } from '../../src/drift/found.ts'
import { readPace } from '../../src/pace/read.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { eachLane, postgres as lane } from '../support/lanes.ts'
import { whileChanging } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const PERIOD = '2s'

const reconciling = (reconcile: RollcallConfig['reconcile'] = {}): Partial<RollcallConfig> => ({
  ...timed({ consistencyDelayMs: 50 }),
  reconcile: { period: PERIOD, ...reconcile },
})

async function insert({ db }: House, count: number, plan = 'premium'): Promise<void> {
  await db.sql(
    `INSERT INTO clientes (id, plan, nombre, correo)
     SELECT 'c' || lpad(n::text, 3, '0'), $2, 'Ana', 'ana' || n || '@example.com' FROM generate_series(1, $1) n`,
    [count, plan],
  )
}

type Told = { readonly key: string; readonly kind: string; readonly fields: string[]; readonly cause: string }

async function found({ db }: House): Promise<readonly Told[]> {
  const { rows } = await db.sql<Told>(
    `SELECT key, kind, fields, cause FROM rollcall.finding WHERE checks >= 2 AND resolved_at IS NULL ORDER BY key`,
  )
  return rows
}

async function ended({ db }: House): Promise<readonly string[]> {
  const { rows } = await db.sql<{ found: string }>(
    `SELECT key || ' ' || resolved_how AS found FROM rollcall.finding WHERE resolved_at IS NOT NULL ORDER BY key`,
  )
  return rows.map(({ found }) => found)
}

/** So many are checked after this moment, with a clear answer. */
async function checkedAt({ db }: House, count: number): Promise<void> {
  const { rows } = await db.sql<{ now: string }>('SELECT clock_timestamp()::text AS now')
  const missed = 'SELECT FROM rollcall.ledger WHERE checked_at > $1::timestamptz'
  await until(async () => ((await db.sql(missed, [rows[0]?.now])).rowCount ?? 0) >= count)
}

const edited = (fields: string[]) => ({ kind: 'differs', fields, cause: 'edited-at-service' })

eachLane('a worker verifies', (lane) => {
  test('what was changed behind its back is found by kind, field and cause, and ends when it is right again', async () => {
    await using house = await buildHouse(lane, { config: reconciling() })
    const { users } = house.sandbox
    const meanings = new Set<string>()
    await house.startWorker({ onCheck: ({ meaning }) => void meanings.add(meaning) })
    await insert(house, 8)
    await house.settled()
    await house.settle(`DELETE FROM clientes WHERE id = 'c008'`)
    users.edit('c002', { first_name: 'Eva' })
    users.edit('c003', { status: 0, email: 'eva@example.com' })
    users.delete('c004')
    users.edit('c008', { status: 2 })
    const all = [
      { key: 'c002', ...edited(['first_name']) },
      { key: 'c003', ...edited(['status', 'email']) },
      { key: 'c004', kind: 'missing', fields: [], cause: 'edited-at-service' },
      { key: 'c008', kind: 'unexpected-access', fields: [], cause: 'edited-at-service' },
    ]
    await until(async () => expect(await found(house)).toEqual(all) ?? true)
    expect([...meanings].sort()).toEqual(['absent', 'present'])
    // And goes on to be found, by the cause that it was found with.
    await checkedAt(house, 8)
    expect(await found(house)).toEqual(all)
    expect(users.get('c002')).toMatchObject({ first_name: 'Eva' })

    users.edit('c002', { first_name: 'Ana' })
    await house.sql(`UPDATE clientes SET plan = 'free', correo = 'eva@example.com' WHERE id = 'c003'`)
    await until(async () => (await found(house)).length === 2)
    expect(await ended(house)).toEqual(['c002 by-itself', 'c003 by-a-change'])
    expect(await countOpen(house.db.pool)).toEqual([
      { kind: 'missing', access: 'lost', count: 1 },
      { kind: 'unexpected-access', access: 'undue', count: 1 },
    ])
  })

  test('and repairs, in mode repair; the schedule comes back when the queue has lost it', async () => {
    await using house = await buildHouse(lane, { config: reconciling({ mode: 'repair' }) })
    const { users } = house.sandbox
    await house.startWorker()
    await insert(house, 4)
    await house.settled()
    users.edit('c002', { first_name: 'Eva' })
    await until(() => users.get('c002')?.first_name === 'Ana')
    await until(async () => (await ended(house)).includes('c002 repaired'))
    await lane.lose(house.queueUrl)
    await house.startWorker()
    users.edit('c003', { status: 0 })
    await until(() => users.get('c003')?.status === 2)
  })
})

test('nothing is said of users who change all the time, of a service that lags and of its own forms', async () => {
  await using house = await buildHouse(lane, {
    config: { ...reconciling({ mode: 'repair' }), ...timed({ consistencyDelayMs: 600 }) },
    contract: { email: 'lower-case', phone: 'formatted', visibleAfterMs: 300 },
  })
  await insert(house, 60)
  await house.sql(`UPDATE clientes SET movil = '612345678', prefijo = '34', correo = 'Ana@Example.com'`)
  await house.startWorker()
  await house.settled()
  const before = house.calls().length
  const half = Array.from({ length: 30 }, (_, n) => `c${String(n + 1).padStart(3, '0')}`)
  await whileChanging(house, half, async () => {
    house.sandbox.users.edit('c050', { last_name: 'Otra' })
    for (const _ of ['once', 'and again']) await checkedAt(house, 30)
  })
  expect(house.calls().length - before).toBeGreaterThan(30)
  await until(() => house.sandbox.users.get('c050')?.last_name === null)
  const { rows } = await house.sql(`SELECT key, fields FROM rollcall.finding WHERE checks >= 2`)
  expect(rows).toEqual([{ key: 'c050', fields: ['last_name'] }])
})

test('an emptied service and one that is out of order: an alarm, no customer created, and nothing false afterwards', async () => {
  await using house = await buildHouse(lane, { config: reconciling({ period: '1s', mode: 'repair' }) })
  const { pool } = house.db
  const { users, faults, journal } = house.sandbox
  await house.startWorker()
  await insert(house, 20)
  await house.settled()
  await checkedAt(house, 20)

  const all = users.all()
  users.clear()
  journal.clear()
  await until(async () => (await readNotCredible(pool))?.missing === 20)
  for (const _ of ['once', 'and again']) await checkedAt(house, 20)
  expect(house.calls().filter(({ method }) => method === 'POST')).toEqual([])
  expect(await countOpen(pool)).toEqual([])

  for (const user of all) users.set(user.user_id, user)
  await until(async () => (await readNotCredible(pool)) === null)
  // A suspicion that is none is forgotten: those that two checks have shown count.
  const found = 'SELECT count(*)::int AS findings FROM rollcall.finding WHERE checks >= 2'
  const before = (await pool.query(found)).rows
  faults.set([{ action: { kind: 'status', status: 500 } }])
  await until(async () => (await readPace(pool))?.breaker === 'open')
  faults.clear()
  await checkedAt(house, 20)
  expect((await pool.query(found)).rows).toEqual(before)
})
