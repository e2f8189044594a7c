import { expect, test } from 'vitest'
import { discard, release } from '../../src/brake/held.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { readNotCredible } from '../../src/drift/coverage.ts'
import { noteNow } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { heldIn, LIMIT_OF_TEN } from '../support/held.ts'
import { buildHouse, type House, PATIENT } from '../support/house.ts'
import { until } from '../support/until.ts'
import { checksAreDue, openVerifier, LANE as QUEUE, storedFindings, type Verifier } from './scene.ts'

async function open(options: { customers: number; repair?: boolean; config?: Partial<RollcallConfig> }) {
  const house = await buildHouse(QUEUE, { config: { ...PATIENT, ...options.config } })
  await house.startWorker()
  await house.settle(
    `INSERT INTO clientes (id, plan, nombre, notas)
     SELECT 'k' || i, 'premium', 'Ana', 'a long note' FROM generate_series(1, $1::int) i`,
    [options.customers],
  )
  const verifier = await openVerifier(house, options)
  const close = async () => {
    await verifier[Symbol.asyncDispose]()
    await house[Symbol.asyncDispose]()
  }
  return { house, verifier, [Symbol.asyncDispose]: close }
}

type Scene = { house: House; verifier: Verifier }
/** A check once the time for it has come, and whatever it owes carried out. */
async function checkAgain({ house, verifier }: Scene, keys: readonly string[]) {
  await checksAreDue(house)
  const checked = await verifier.checkKeys(keys)
  await house.settled()
  return checked
}

/** Suspects, and finds. */
async function checkTwice(scene: Scene, keys: readonly string[]) {
  await checkAgain(scene, keys)
  return await checkAgain(scene, keys)
}

const writes = (house: House, userId?: string) =>
  house.calls(userId).filter(({ method }) => method !== 'GET').length

test('a form that comes back after two repairs is the service’s own: no drift and no third write', async () => {
  await using scene = await open({ customers: 1, repair: true })
  const { house, verifier } = scene
  const cut = () => house.sandbox.users.edit('k1', { description: 'a long' })
  cut()
  for (const repairs of [1, 2]) {
    expect((await checkAgain(scene, ['k1'])).k1?.findingState).toBe('suspected')
    expect((await checkAgain(scene, ['k1'])).k1).toMatchObject({ findingState: 'found', repairing: true })
    expect((await storedFindings(house)).at(-1)).toMatchObject({ repairs, how: 'repaired' })
    expect(house.sandbox.users.get('k1')?.description).toBe('a long note')
    cut()
  }
  const written = writes(house)
  // The third repair sees the form once more, and leaves it.
  await checkAgain(scene, ['k1'])
  expect((await checkAgain(scene, ['k1'])).k1).toMatchObject({ repairing: true })
  const last = (await storedFindings(house)).at(-1)
  expect(last).toMatchObject({ cause: 'normalised', how: 'normalised', repairs: 3 })
  expect(writes(house)).toBe(written)
  expect((await verifier.checkKeys(['k1'])).k1).toMatchObject({ verdict: { kind: 'agrees' }, resolved: null })
  await noteNow(house.db.pool, ['k1'], LANE.repair)
  await house.settled()
  expect(writes(house)).toBe(written)
  // The learnt form holds for one value only.
  await house.settle(`UPDATE clientes SET notas = 'another note' WHERE id = 'k1'`)
  expect(house.sandbox.users.get('k1')?.description).toBe('another note')
  cut()
  expect((await verifier.checkKeys(['k1'])).k1?.verdict).toMatchObject({
    kind: 'differs',
    fields: ['description'],
  })
})

test.each([3, 30])(
  'a service that suddenly has none of %i reports no customer, and creates none',
  async (many) => {
    await using scene = await open({ customers: many, repair: true })
    const { house } = scene
    const { users } = house.sandbox
    const kept = users.all()
    const allKeys = keysOf(many)
    users.clear()
    const before = writes(house)
    for (let n = 0; n < 4; n++) {
      const checked = await checkAgain(scene, allKeys)
      expect(new Set(allKeys.map((key) => checked[key]?.findingState))).toEqual(new Set(['suspected']))
    }
    expect(writes(house)).toBe(before)
    const asked = Math.min(many, 30)
    expect(await readNotCredible(house.db.pool)).toEqual({ asked, missing: asked })
    // As soon as most of them are there, the one who is not is found, and created.
    for (const user of kept) users.set(user.user_id, user)
    users.delete('k1')
    // A sample that is not credible is repeated after a minute.
    await house.sql('UPDATE rollcall.pace SET sampled_at = NULL')
    expect((await checkAgain(scene, allKeys)).k1).toMatchObject({ findingState: 'found', repairing: true })
    expect(users.get('k1')?.status).toBe(2)
    expect(await readNotCredible(house.db.pool)).toBeNull()
  },
)

test('who is not there is confirmed only once users at random were asked, also where no other customer is checked', async () => {
  await using scene = await open({ customers: 35, repair: true })
  const { house } = scene
  house.sandbox.users.delete('k1')
  const asked = () => house.calls().filter(({ method }) => method === 'GET').length
  const before = asked()
  await checkAgain(scene, ['k1'])
  expect(asked() - before).toBe(1)
  expect((await checkAgain(scene, ['k1'])).k1).toMatchObject({ findingState: 'found', repairing: true })
  // The sample, the check, and that of the repair.
  expect(asked() - before).toBe(1 + 30 + 1 + 1)
})

test('a sample of before the suspicion does not count', async () => {
  await using scene = await open({ customers: 30, repair: true })
  const { house } = scene
  const { users } = house.sandbox
  users.delete('k1')
  await checkTwice(scene, ['k1'])
  expect(users.get('k1')?.status).toBe(2)
  users.clear()
  const last = keysOf(30).slice(25)
  for (let n = 0; n < 3; n++) {
    const checked = await checkAgain(scene, last)
    expect(new Set(last.map((key) => checked[key]?.findingState))).toEqual(new Set(['suspected']))
  }
  expect(users.all()).toEqual([])
})

test.each([
  ['all but a few', 5, 55],
  ['three of four', 15, 45],
])('a service that has lost %s is not credible, whichever user is read last', async (_, left, lost) => {
  await using scene = await open({ customers: left + lost, repair: true })
  const { house } = scene
  const allKeys = keysOf(left + lost)
  const gone = allKeys.slice(0, lost)
  for (const key of gone) house.sandbox.users.delete(key)
  const before = writes(house)
  for (const keys of [allKeys, allKeys.toReversed(), gone.slice(0, 1), allKeys.slice(lost - 1)])
    await checkAgain(scene, keys)
  expect((await storedFindings(house)).filter(({ checks }) => checks >= 2)).toEqual([])
  expect(writes(house)).toBe(before)
})

test('a customer that was never registered, or has left, says nothing for a service', async () => {
  await using scene = await open({ customers: 12, repair: true })
  const { house } = scene
  const [left, lost] = [keysOf(12).slice(0, 6), keysOf(12).slice(6)]
  await house.settle(`UPDATE clientes SET plan = 'none' WHERE id = ANY($1)`, [left])
  for (const key of left) house.sandbox.users.delete(key)
  await checkTwice(scene, left)
  await house.sql('DELETE FROM rollcall.ledger WHERE key = ANY($1)', [left])
  await house.sql(`UPDATE clientes SET plan = 'premium' WHERE id = ANY($1)`, [left])
  for (const key of lost) house.sandbox.users.delete(key)
  for (let n = 0; n < 4; n++) await checkAgain(scene, lost)
  expect((await storedFindings(house)).filter(({ checks }) => checks >= 2)).toEqual([])
  for (const key of lost) expect(house.sandbox.users.get(key)).toBeUndefined()
})

test('what a run finds is owed to workers that repair, and to no others', async () => {
  for (const mode of ['repair', 'report'] as const) {
    await using scene = await open({ customers: 2, config: { reconcile: { period: '7d', mode } } })
    const { house } = scene
    house.sandbox.users.edit('k1', { first_name: 'Eva' })
    expect((await checkTwice(scene, ['k1'])).k1).toMatchObject({ findingState: 'found', repairing: false })
    const next = 'SELECT FROM rollcall.finding WHERE next_check_at IS NOT NULL'
    expect((await house.sql(next)).rowCount, mode).toBe(mode === 'repair' ? 1 : 0)
  }
})

test('a mass of repairs waits for a person, and changes of those customers pass', async () => {
  await using house = await buildHouse(QUEUE, { config: { brake: LIMIT_OF_TEN } })
  await house.startWorker()
  const { pool } = house.db
  await pool.query(
    `INSERT INTO clientes (id, plan, nombre) SELECT 'k' || i, 'premium', 'Ana' FROM generate_series(1, 15) i`,
  )
  await release(pool, { kind: 'create', by: 'a test', why: 'all of them are new' })
  await house.settled()
  await using verifier = await openVerifier(house, { repair: true })
  const allKeys = keysOf(15)
  for (const key of allKeys) house.sandbox.users.edit(key, { first_name: 'Eva' })
  const found = await checkTwice({ house, verifier }, allKeys)
  const waiting = allKeys.filter((key) => !found[key]?.repairing)
  expect(waiting).toHaveLength(5)
  expect(await heldIn(pool, 'repair')).toBe(5)
  const [changed = '', ...others] = waiting
  await pool.query(`UPDATE clientes SET apellidos = 'Gil' WHERE id = $1`, [changed])
  await until(() => house.sandbox.users.get(changed)?.last_name === 'Gil')
  await house.settled()
  expect(house.sandbox.users.get(changed)?.first_name).toBe('Eva')
  await discard(pool, { keys: [others[0] ?? ''], ...MEANT })
  await release(pool, { kind: 'repair', ...MEANT })
  await house.settled()
  const names = others.map((key) => house.sandbox.users.get(key)?.first_name)
  expect(names).toEqual(['Eva', 'Ana', 'Ana', 'Ana'])
})

test('a loss of access that only checks have shown is not credible for many at once: what writes it back is counted', async () => {
  await using house = await buildHouse(QUEUE, { config: { brake: LIMIT_OF_TEN } })
  await house.startWorker()
  await house.settle(`INSERT INTO clientes (id, plan) SELECT 'k' || i, 'trial' FROM generate_series(1, 15) i`)
  await using verifier = await openVerifier(house, { repair: true })
  const keys = keysOf(15)
  for (const key of keys) house.sandbox.users.edit(key, { status: 0 })
  const found = await checkTwice({ house, verifier }, keys)
  expect(keys.map((key) => found[key]?.verdict.kind)).toEqual(keys.map(() => 'trial-ended'))
  expect(keys.filter((key) => found[key]?.repairing)).toEqual([])
  await house.settle(`UPDATE clientes SET nombre = 'Eva'`)
  expect(await heldIn(house.db.pool, 'revocation')).toBe(5)
})

const MEANT = { by: 'a test', why: 'it was our own import' }

function keysOf(many: number): readonly string[] {
  return Array.from({ length: many }, (_, at) => `k${at + 1}`)
}
