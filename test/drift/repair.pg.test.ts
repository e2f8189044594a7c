// What is repaired, what is learnt to be the service's own form, and what waits because it is a mass.
import { expect, test } from 'vitest'
import { readShare } from '../../src/drift/coverage.ts'
import { releaseRepairs } from '../../src/drift/halt.ts'
import { noteNow } from '../../src/ledger/note.ts'
import { LANE } from '../../src/model/customer.ts'
import { heldIn, LIMIT_OF_TEN } from '../support/held.ts'
import { buildHouse, type House } from '../support/house.ts'
import { until } from '../support/until.ts'
import { looksAreDue, openVerifier, LANE as QUEUE, storedFindings, type Verifier } from './scene.ts'

async function open(options: { customers: number; repair?: boolean; maxShare?: number }) {
  const house = await buildHouse(QUEUE)
  await house.startWorker()
  await house.db.pool.query(
    `INSERT INTO clientes (id, plan, nombre, notas)
     SELECT 'k' || i, 'premium', 'Ana', 'a long note' FROM generate_series(1, $1::int) i`,
    [options.customers],
  )
  await house.settled()
  const verifier = await openVerifier(house, options)
  const close = async () => {
    await verifier[Symbol.asyncDispose]()
    await house[Symbol.asyncDispose]()
  }
  return { house, verifier, [Symbol.asyncDispose]: close }
}

/** A look once the time for it has come, and whatever it owes carried out. */
async function lookAgain({ house, verifier }: { house: House; verifier: Verifier }, keys: readonly string[]) {
  await looksAreDue(house)
  const looked = await verifier.look(keys)
  await house.settled()
  return looked
}

const writes = (house: House, userId?: string) =>
  house.calls(userId).filter(({ method }) => method !== 'GET').length

test('what was found twice is repaired by the plan of every sync, and a look sees to it', async () => {
  await using scene = await open({ customers: 3, repair: true })
  const { house } = scene
  const { users } = house.sandbox
  users.edit('k1', { first_name: 'Eva' })
  users.delete('k2')
  users.edit('k3', { status: 0 })
  const before = writes(house)
  const first = await lookAgain(scene, ['k1', 'k2', 'k3'])
  expect(first.k1?.repairing).toBe(false)
  expect(writes(house)).toBe(before)
  const second = await lookAgain(scene, ['k1', 'k2', 'k3'])
  expect([second.k1, second.k2, second.k3].map((each) => each?.repairing)).toEqual([true, true, true])
  expect(users.get('k1')?.first_name).toBe('Ana')
  expect(users.get('k2')?.status).toBe(2)
  expect(users.get('k3')?.status).toBe(2)
  expect(house.calls('k1').at(-1)).toEqual({ method: 'PATCH', body: { status: 2, first_name: 'Ana' } })
  const third = await lookAgain(scene, ['k1', 'k2', 'k3'])
  expect([third.k1, third.k2, third.k3].map((each) => each?.resolved)).toEqual([
    'repaired',
    'repaired',
    'repaired',
  ])
  expect((await storedFindings(house)).map(({ how, repairs }) => [how, repairs])).toEqual([
    ['repaired', 1],
    ['repaired', 1],
    ['repaired', 1],
  ])
})

test('what a run has suspected is found by a worker, and neither counted nor repaired before its turn', async () => {
  await using scene = await open({ customers: 1, repair: true, maxShare: 0.05 })
  const { house } = scene
  const { pool } = house.db
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO rollcall.drift_run (kind, outcome) VALUES ('run', 'unjudged') RETURNING id::text`,
  )
  const options = { by: rows[0]?.id ?? '', counts: false, maxShare: 0.05 }
  await using run = await openVerifier(house, options)
  house.sandbox.users.edit('k1', { first_name: 'Eva' })
  expect((await run.look(['k1'])).k1?.standing).toBe('suspected')
  await using further = await openVerifier(house, { repair: true, maxShare: 0.05, again: true })
  await looksAreDue(house)
  const confirmed = await further.look(['k1'])
  expect(confirmed.k1).toMatchObject({ standing: 'found', repairing: false })
  expect((await readShare(pool, 0.05)).counted).toBe(0)
  // A further look at what stands does not count, as nobody who agrees has any; its turn does, and goes by the share.
  await using reporting = await openVerifier(house, { maxShare: 0.05, again: true })
  expect((await reporting.look(['k1'])).k1?.standing).toBe('found')
  expect((await readShare(pool, 0.05)).counted).toBe(0)
  expect((await lookAgain(scene, ['k1'])).k1).toMatchObject({ standing: 'found', repairing: true })
  expect(await readShare(pool, 0.05)).toMatchObject({ counted: 1, drifted: 1 })
})

test('what a worker sees to differ in another way before its turn is neither counted nor repaired', async () => {
  await using scene = await open({ customers: 1, repair: true })
  const { house, verifier } = scene
  await using run = await openVerifier(house, { counts: false })
  house.sandbox.users.edit('k1', { first_name: 'Eva' })
  await run.look(['k1'])
  house.sandbox.users.delete('k1')
  await using further = await openVerifier(house, { repair: true, again: true })
  for (const standing of ['suspected', 'found']) {
    await looksAreDue(house)
    expect((await further.look(['k1'])).k1).toMatchObject({
      ...{ verdict: { kind: 'missing' }, standing, repairing: false },
    })
  }
  expect((await readShare(house.db.pool, 1)).counted).toBe(0)
  expect((await lookAgain({ house, verifier }, ['k1'])).k1).toMatchObject({ repairing: true })
})

test('a form that comes back after two repairs is the service’s own: no drift, no third write, not even by a sync', async () => {
  await using scene = await open({ customers: 1, repair: true })
  const { house, verifier } = scene
  const cut = () => house.sandbox.users.edit('k1', { description: 'a long' })
  cut()
  await lookAgain(scene, ['k1'])
  for (const repairs of [1, 2]) {
    expect((await lookAgain(scene, ['k1'])).k1).toMatchObject({ standing: 'found', repairing: true })
    expect(await storedFindings(house)).toMatchObject([{ repairs, how: null }])
    expect(house.sandbox.users.get('k1')?.description).toBe('a long note')
    cut()
  }
  const written = writes(house)
  expect((await lookAgain(scene, ['k1'])).k1).toMatchObject({
    verdict: { kind: 'agrees' },
    resolved: 'normalised',
  })
  expect(await storedFindings(house)).toMatchObject([{ cause: 'normalised', how: 'normalised', repairs: 2 }])
  expect((await verifier.look(['k1'])).k1).toMatchObject({ verdict: { kind: 'agrees' }, resolved: null })
  await noteNow(house.db.pool, ['k1'], LANE.repair)
  await house.settled()
  expect(writes(house)).toBe(written)
  // Of another value it says nothing.
  await house.db.pool.query(`UPDATE clientes SET notas = 'another note' WHERE id = 'k1'`)
  await house.settled()
  expect(house.sandbox.users.get('k1')?.description).toBe('another note')
  cut()
  expect((await verifier.look(['k1'])).k1?.verdict).toMatchObject({
    kind: 'differs',
    fields: ['description'],
  })
})

test('a service that suddenly has nobody gets nobody created; repairs go on by themselves once it has them again', async () => {
  await using scene = await open({ customers: 30, repair: true, maxShare: 0.05 })
  const { house, verifier } = scene
  const { users } = house.sandbox
  const keys = Array.from({ length: 30 }, (_, at) => `k${at + 1}`)
  const kept = users.all()
  users.clear()
  const before = writes(house)
  await lookAgain(scene, keys)
  const found = await lookAgain(scene, keys)
  expect(keys.map((key) => found[key]?.standing)).toEqual(keys.map(() => 'found'))
  expect(keys.filter((key) => found[key]?.repairing)).toEqual([])
  await lookAgain(scene, keys)
  expect(writes(house)).toBe(before)
  expect(await halted(house)).toBe(true)
  for (const user of kept) users.set(user.user_id, user)
  users.delete('k30')
  const others = keys.filter((key) => key !== 'k30')
  for (let round = 0; round < 21; round++) await verifier.look(others)
  expect(await halted(house)).toBe(false)
  expect((await lookAgain(scene, ['k30'])).k30?.repairing).toBe(true)
  expect(users.get('k30')?.status).toBe(2)
})

test('a mass that stands stays a mass, and looks that do not count change nothing about it', async () => {
  await using scene = await open({ customers: 8, repair: true, maxShare: 0.05 })
  const { house, verifier } = scene
  const drifting = ['k1', 'k2', 'k3', 'k4', 'k5']
  await using plain = await openVerifier(house, { counts: false, maxShare: 0.05 })
  for (const key of drifting) house.sandbox.users.edit(key, { first_name: 'Eva' })
  const window = async () =>
    (await house.db.pool.query<{ recent: string }>('SELECT recent FROM rollcall.drift_share')).rows[0]?.recent
  for (let looks = 0; looks < 3; looks++) {
    await looksAreDue(house)
    await plain.look([...drifting, 'k6', 'k7', 'k8'])
  }
  expect(await window()).toBeUndefined()
  const before = writes(house)
  for (let round = 1; round <= 4; round++) {
    await lookAgain(scene, drifting)
    await verifier.look(['k6', 'k7', 'k8'])
    expect(await window()).toBe('dddddaaa'.repeat(round))
    await plain.look(['k6', 'k7', 'k8'])
  }
  expect(await halted(house)).toBe(true)
  expect(writes(house)).toBe(before)
})

test('looks between two turns repair no mass, whatever others have shown since, but what a person has released', async () => {
  await using scene = await open({ customers: 8, repair: true, maxShare: 0.05 })
  const { house } = scene
  const { pool } = house.db
  const drifting = ['k1', 'k2', 'k3', 'k4', 'k5']
  for (const key of drifting) house.sandbox.users.edit(key, { first_name: 'Eva' })
  await lookAgain(scene, drifting)
  await lookAgain(scene, drifting)
  expect(await halted(house)).toBe(true)
  await pool.query(`UPDATE rollcall.drift_share SET recent = repeat('a', 200), halted_at = NULL`)
  await using further = await openVerifier(house, { repair: true, maxShare: 0.05, again: true })
  const repairing = async () => {
    await looksAreDue(house)
    const looked = await further.look(drifting)
    return drifting.map((key) => [looked[key]?.standing, looked[key]?.repairing])
  }
  expect(await repairing()).toEqual(drifting.map(() => ['found', false]))
  await releaseRepairs(pool, { ...MEANT, found: await findings(house, drifting.slice(1)), everybody: true })
  expect(await repairing()).toEqual(drifting.map((key) => ['found', key !== 'k1']))
})

test('a person may say that what is found is to be repaired, though it is a mass', async () => {
  await using scene = await open({ customers: 8, repair: true, maxShare: 0.05 })
  const { house } = scene
  const keys = Array.from({ length: 8 }, (_, at) => `k${at + 1}`)
  for (const key of keys) house.sandbox.users.edit(key, { first_name: 'Eva' })
  await lookAgain(scene, keys)
  await lookAgain(scene, keys)
  expect(await halted(house)).toBe(true)
  const found = await findings(house, keys)
  expect(await releaseRepairs(house.db.pool, { ...MEANT, found, everybody: true })).toBe(8)
  await lookAgain(scene, keys)
  await until(() => house.sandbox.users.all().every(({ first_name }) => first_name === 'Ana'))
  const ended = await lookAgain(scene, keys)
  expect(keys.map((key) => ended[key]?.resolved)).toEqual(keys.map(() => 'repaired'))
})

test('a loss of access that only looks have shown is not believed of a mass: what writes it back is counted', async () => {
  await using house = await buildHouse(QUEUE, { config: { brake: LIMIT_OF_TEN } })
  await house.startWorker()
  const { pool } = house.db
  await pool.query(`INSERT INTO clientes (id, plan) SELECT 'k' || i, 'trial' FROM generate_series(1, 15) i`)
  await house.settled()
  await using verifier = await openVerifier(house, { repair: true })
  const keys = Array.from({ length: 15 }, (_, at) => `k${at + 1}`)
  for (const key of keys) house.sandbox.users.edit(key, { status: 0 })
  await lookAgain({ house, verifier }, keys)
  const found = await lookAgain({ house, verifier }, keys)
  expect(keys.map((key) => found[key]?.verdict.kind)).toEqual(keys.map(() => 'trial-ended'))
  expect(keys.filter((key) => found[key]?.repairing)).toEqual([])
  await pool.query(`UPDATE clientes SET nombre = 'Eva'`)
  await house.settled()
  expect(await heldIn(pool, 'revocation')).toBe(5)
})

const MEANT = { by: 'a test', why: 'it was our own import' }

async function findings({ db }: House, keys: readonly string[]): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    'SELECT id::text FROM rollcall.finding WHERE key = ANY($1)',
    [keys],
  )
  return rows.map(({ id }) => id)
}

async function halted({ db }: House): Promise<boolean> {
  const { rows } = await db.pool.query<{ halted: boolean }>(
    'SELECT halted_at IS NOT NULL AS halted FROM rollcall.drift_share',
  )
  return rows[0]?.halted ?? false
}
