// Registrations that a person expects: they pass, are not counted, and are expected once for a sweep.
import { expect, test } from 'vitest'
import { cutExpected, setExpected } from '../../src/brake/expected.ts'
import { discard } from '../../src/brake/held.ts'
import { readBrake } from '../../src/brake/list.ts'
import { makeBrake } from '../../src/brake/reserve.ts'
import { beginRun } from '../../src/ledger/runs.ts'
import { LANE, type Lane } from '../../src/model/customer.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { keys, limits } from './scene.ts'

const BACKFILL = { kind: 'backfill', generation: '1', options: {}, marks: [], capture: '' } as const

async function begun({ pool }: TestDatabase): Promise<string> {
  return (await beginRun(pool, BACKFILL, null)).id
}

async function registered({ pool }: TestDatabase, who: readonly string[]): Promise<number> {
  const brake = makeBrake(pool, limits(1000, 5))
  const answers = await Promise.all(who.map((key) => brake({ key, kinds: ['create'], desiredDigest: 'd' })))
  return answers.filter((kinds) => kinds.length === 0).length
}

async function createOf({ pool }: TestDatabase) {
  return (await readBrake(pool)).find(({ kind }) => kind === 'create')
}

test('those who were expected pass besides the limit; the one who is too many then trips the kind', async () => {
  await using db = await freshDatabase()
  const expected = await setExpected(db.pool, { customers: 20, windowHours: 24, sweep: await begun(db) })
  expect(expected).toMatchObject({ set: true, left: 20, trippedAt: null })
  expect(await createOf(db)).toMatchObject({ expected: 20, expectedUntil: expected.until })
  expect(await registered(db, keys(12))).toBe(12)
  expect(await createOf(db)).toMatchObject({ expected: 8, taken: 0, trippedAt: null })
  expect(await registered(db, keys(12))).toBe(12)
  expect(await createOf(db)).toMatchObject({ expected: 8, taken: 0 })
  expect(await registered(db, keys(30, 13))).toBe(8 + 5)
  expect(await createOf(db)).toMatchObject({ expected: 0, expectedUntil: null, taken: 5, limit: 5 })
  // A customer that has passed continues, also now that the kind has tripped.
  expect(await registered(db, keys(12))).toBe(12)
})

test('a command that goes on with its sweep expects no more, and the next sweep does', async () => {
  await using db = await freshDatabase()
  const first = { customers: 20, windowHours: 24, sweep: await begun(db) }
  await setExpected(db.pool, first)
  await registered(db, keys(15))
  expect(await setExpected(db.pool, first)).toMatchObject({ set: false, left: 5, over: false })
  await db.sql('UPDATE rollcall.brake SET expected_until = now()')
  expect(await setExpected(db.pool, { ...first, windowHours: 0 })).toMatchObject({ set: false, over: true })
  const next = { ...first, customers: 3, sweep: await begun(db) }
  expect(await setExpected(db.pool, next)).toMatchObject({ set: true, left: 3 })
  expect(await registered(db, keys(30, 100))).toBe(3 + 5)
})

test('a decision about registrations ends it, and going on with the sweep does not bring it back', async () => {
  await using db = await freshDatabase()
  const expecting = { customers: 2, windowHours: 24, sweep: await begun(db) }
  await setExpected(db.pool, expecting)
  expect(await registered(db, keys(10))).toBe(2 + 5)
  await db.sql(`UPDATE rollcall.brake SET expected = 4 WHERE kind = 'create'`)
  // Tripped, it holds those who were expected as well: a person is asked already.
  expect(await registered(db, ['late'])).toBe(0)
  await discard(db.pool, { kind: 'create', by: 'somebody', why: 'seen' })
  expect(await createOf(db)).toMatchObject({ expected: 0, taken: 0, trippedAt: null })
  expect(await setExpected(db.pool, expecting)).toMatchObject({ set: false, left: 0 })
  expect(await registered(db, keys(10, 200))).toBe(5)
})

/** Owed by a backfill; `remote` is the ledger's knowledge of the user. */
async function owed(
  { pool }: TestDatabase,
  who: readonly string[],
  remote = 'unasked',
  lane: Lane = LANE.backfill,
) {
  await pool.query(
    `INSERT INTO rollcall.owed (key, lane, change_version, due_at) SELECT k, $2, 1, now() FROM unnest($1::text[]) k`,
    [who, lane],
  )
  await pool.query('INSERT INTO rollcall.ledger (key, remote) SELECT k, $2 FROM unnest($1::text[]) k', [
    who,
    remote,
  ])
}

test('at the end of a sweep no more stay expected than can still be registered, and a repeated one adds none', async () => {
  await using db = await freshDatabase()
  const expectFifty = async () =>
    await setExpected(db.pool, { customers: 50, windowHours: 24, sweep: await begun(db) })
  await expectFifty()
  await owed(db, keys(10))
  await owed(db, keys(20, 100), 'present')
  await owed(db, keys(7, 200), 'unasked', LANE.change)
  expect(await cutExpected(db.pool, 0)).toMatchObject({ left: 10, trippedAt: null })
  // Four have passed, and are owed their calls still.
  expect(await registered(db, keys(4))).toBe(4)
  expect(await cutExpected(db.pool, 0)).toMatchObject({ left: 6 })
  expect(await expectFifty()).toMatchObject({ set: true, left: 50 })
  // A customer that becomes another user has a user at the service already.
  expect(await cutExpected(db.pool, 2)).toMatchObject({ left: 8 })
  await db.sql('UPDATE rollcall.owed SET due_at = NULL')
  expect(await expectFifty()).toMatchObject({ set: true, left: 50 })
  expect(await cutExpected(db.pool, 0)).toMatchObject({ left: 0 })
  expect(await registered(db, keys(10, 300))).toBe(5)
})
