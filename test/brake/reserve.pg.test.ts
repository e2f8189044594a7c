import { expect, test } from 'vitest'
import type { BrakeKind, HeldKind } from '../../src/brake/brake.ts'
import { readCounted } from '../../src/brake/forecast.ts'
import { release } from '../../src/brake/held.ts'
import { makeBrake } from '../../src/brake/reserve.ts'
import { makePool } from '../../src/database/pool.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { held, keys, limits, put } from './scene.ts'

const request = (key: string, kinds: readonly BrakeKind[] = ['revocation'], desiredDigest = 'd') => ({
  key,
  kinds,
  desiredDigest,
})
const passed = (answers: readonly (readonly HeldKind[])[]) =>
  answers.filter((kinds) => kinds.length === 0).length

/** The row of a kind; `taken` has to be the number of its entries at every time. */
async function rowOf({ pool }: TestDatabase, kind: BrakeKind) {
  const { rows } = await pool.query(
    `SELECT taken, tripped_at IS NOT NULL AS tripped, tripped_at_limit AS limit, base::int,
       (SELECT count(*)::int FROM rollcall.brake_entry e WHERE e.kind = b.kind AND NOT forgotten) AS entries
     FROM rollcall.brake b WHERE kind = $1`,
    [kind],
  )
  const { entries, ...row } = rows[0]
  expect(row.taken).toBe(entries)
  return row
}

const age = ({ pool }: TestDatabase, hours: number) =>
  pool.query(`UPDATE rollcall.brake_entry SET at = at - $1 * interval '1 hour'`, [hours])

test('four processes that reserve at once let exactly the limit through, of each kind', async () => {
  await using db = await freshDatabase()
  // Whatever is still open when the database is dropped is cut off, and reported by the pool.
  const pools = Array.from({ length: 4 }, () => makePool({ url: db.url, max: 3, onError: () => undefined }))
  try {
    const brakes = pools.map((pool) => makeBrake(pool, limits(40, 90)))
    // Every customer is asked about twice, by two processes, and some of them for two kinds at once.
    const wanted = keys(600).flatMap((key, n) => {
      const kinds: readonly BrakeKind[] =
        n % 3 === 0 ? ['create'] : n % 3 === 1 ? ['revocation'] : ['create', 'status']
      return [0, 1].map((twice) => ({ brake: brakes[(n + twice) % 4], asked: request(key, kinds) }))
    })
    const answers = await Promise.all(
      wanted.map(async ({ brake, asked }) => [asked, await brake?.(asked)] as const),
    )
    const through = new Map<BrakeKind, Set<string>>()
    for (const [{ key, kinds }, answer] of answers) {
      if (answer?.length !== 0) continue
      for (const kind of kinds) through.set(kind, (through.get(kind) ?? new Set()).add(key))
    }
    expect([...through].map(([kind, of]) => [kind, of.size]).sort()).toEqual([
      ['create', 90],
      ['revocation', 40],
      ['status', expect.any(Number)],
    ])
    expect(through.get('status')?.size).toBeLessThanOrEqual(40)
    expect(await rowOf(db, 'revocation')).toEqual({ taken: 40, tripped: true, limit: 40, base: null })
    expect(await rowOf(db, 'create')).toMatchObject({ taken: 90, tripped: true })
    // The retry of a passed customer passes, whichever process makes it.
    const again = [...(through.get('revocation') ?? [])].map((key, n) => brakes[n % 4]?.(request(key)))
    expect(passed((await Promise.all(again)).map((kinds) => kinds ?? ['revocation']))).toBe(40)
    expect(await rowOf(db, 'revocation')).toMatchObject({ taken: 40 })
  } finally {
    await Promise.all(pools.map((pool) => pool.end()))
  }
})

test('who is let through again counts from then on', async () => {
  await using db = await freshDatabase()
  const brake = makeBrake(db.pool, limits(2))
  expect(await brake(request('a'))).toEqual([])
  await age(db, 23)
  expect(await brake(request('a'))).toEqual([])
  await age(db, 2)
  const answers = await Promise.all([brake(request('b')), brake(request('c'))])
  expect(answers.toSorted()).toEqual([[], ['revocation']])
  expect(await rowOf(db, 'revocation')).toMatchObject({ taken: 2, tripped: true })
})

test('once a kind has tripped, a customer who was let through waits with its next change, and not with the same one', async () => {
  await using db = await freshDatabase()
  const brake = makeBrake(db.pool, limits(2))
  await put(
    db.pool,
    ['carried', 'failing', 'new'].map((key) => ({ key, sent: 2 })),
  )
  expect([await brake(request('carried')), await brake(request('failing'))]).toEqual([[], []])
  const settle = `UPDATE rollcall.ledger SET settled_at = clock_timestamp() WHERE key = 'carried'`
  await db.sql(settle)
  // Below the limit it changes as often as it likes, and counts once.
  expect(await brake(request('carried'))).toEqual([])
  await db.sql(settle)
  expect(await brake(request('new'))).toEqual(['revocation'])
  expect(await brake(request('carried'))).toEqual(['revocation'])
  expect(await brake(request('failing'))).toEqual([])
  expect(await rowOf(db, 'revocation')).toMatchObject({ taken: 2, tripped: true })
  expect(await readCounted(db.pool, ['carried', 'failing'], 24)).toEqual(new Map())
})

test('a share is of those with access, or for registrations of those who are registered', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [
    ...keys(300).map((key) => ({ key, sent: 2 })),
    ...keys(100, 301).map((key) => ({ key, sent: 2, seen: 0 })),
    ...keys(100, 401).map((key) => ({ key, sent: 4, remote: 'absent' })),
  ])
  const brake = makeBrake(db.pool, {
    ...limits(0),
    changes: { customers: 2, share: 0.01 },
    creates: { customers: 1, share: 0.01 },
  })
  const asked = keys(6).map((key) => brake(request(key, ['revocation'])))
  expect(passed(await Promise.all(asked))).toBe(3)
  expect(await rowOf(db, 'revocation')).toEqual({ taken: 3, tripped: true, limit: 3, base: 300 })
  const created = keys(6, 1001).map((key) => brake(request(key, ['create'])))
  expect(passed(await Promise.all(created))).toBe(4)
  expect(await rowOf(db, 'create')).toEqual({ taken: 4, tripped: true, limit: 4, base: 400 })
})

test('no customer waits for a person, and no customer is let through, because of a count that is old', async () => {
  await using db = await freshDatabase()
  await put(
    db.pool,
    keys(300).map((key) => ({ key, sent: 2 })),
  )
  const brake = makeBrake(db.pool, { ...limits(0), changes: { customers: 1, share: 0.01 } })
  const ask = async (count: number, from: number) =>
    passed(await Promise.all(keys(count, from).map((key) => brake(request(key)))))
  expect(await ask(2, 1)).toBe(2)
  expect(await rowOf(db, 'revocation')).toMatchObject({ base: 300, tripped: false })
  // More of them since: the count is a moment old, and what it says would trip.
  await put(
    db.pool,
    keys(200, 301).map((key) => ({ key, sent: 2 })),
  )
  expect(await ask(2, 3)).toBe(2)
  expect(await rowOf(db, 'revocation')).toMatchObject({ base: 500, taken: 4, tripped: false })
  await db.sql(`UPDATE rollcall.ledger SET remote = 'absent' WHERE key > 'k00400'`)
  await db.sql(`UPDATE rollcall.brake SET based_at = based_at - interval '61 s'`)
  expect(await ask(1, 5)).toBe(0)
  expect(await rowOf(db, 'revocation')).toEqual({ taken: 4, tripped: true, limit: 4, base: 400 })
})

test('what has left the window no longer counts; what has tripped stays tripped', async () => {
  await using db = await freshDatabase()
  const brake = makeBrake(db.pool, limits(5))
  const ask = async (count: number, from: number) =>
    passed(await Promise.all(keys(count, from).map((key) => brake(request(key)))))
  expect(await ask(5, 1)).toBe(5)
  await age(db, 23)
  expect(await ask(2, 1)).toBe(2)
  await age(db, 1)
  // One asks anew, and is counted anew; of the others only the two stay who went on an hour ago.
  expect(await ask(1, 5)).toBe(1)
  expect(await rowOf(db, 'revocation')).toEqual({ taken: 3, tripped: false, limit: null, base: null })
  expect(await ask(4, 10)).toBe(2)
  expect(await rowOf(db, 'revocation')).toMatchObject({ taken: 5, tripped: true })
  await age(db, 25)
  expect(await ask(3, 20)).toBe(0)
  expect((await rowOf(db, 'revocation')).tripped).toBe(true)
})

test('a release lets one customer through, for what was held and nothing else', async () => {
  await using db = await freshDatabase()
  const brake = makeBrake(db.pool, limits(0))
  expect(await brake(request('a'))).toEqual(['revocation'])
  await put(db.pool, [held('a'), held('b')])
  await release(db.pool, { keys: ['a'], by: 'p', why: 'w' })
  const ask = async (key: string, desiredDigest: string) =>
    await brake(request(key, ['revocation', 'create'], desiredDigest))
  expect(await Promise.all([ask('a', 'd'), ask('a', 'other'), ask('b', 'd')])).toEqual([
    [],
    ['revocation'],
    ['revocation'],
  ])
  // It holds until a claim has carried it out, and is counted under nothing; other kinds are.
  expect(await ask('a', 'd')).toEqual([])
  expect(await rowOf(db, 'revocation')).toMatchObject({ taken: 0 })
  expect(await rowOf(db, 'create')).toMatchObject({ taken: 1 })
})

test('a customer that gets back the access that was taken within the window is not counted, decided on or not', async () => {
  await using db = await freshDatabase()
  const brake = makeBrake(db.pool, limits(1))
  const back = (key: string, hasAccess = false) => brake({ ...request(key, ['status']), hasAccess })
  expect(await back('somebody')).toEqual([])
  expect(await brake(request('a'))).toEqual([])
  expect(await back('a')).toEqual([])
  await put(db.pool, [held('b')])
  expect(await brake(request('b'))).toEqual(['revocation'])
  await release(db.pool, { keys: ['b'], by: 'a test', why: 'meant' })
  expect(await back('b')).toEqual([])
  await db.sql('UPDATE rollcall.decided SET spent_at = clock_timestamp()')
  expect(await back('b')).toEqual([])
  // The kind no longer counts these customers, and yet their keys are still known.
  const { rows } = await db.sql('SELECT tripped_at, taken FROM rollcall.brake WHERE kind = $1', [
    'revocation',
  ])
  expect(rows).toEqual([{ tripped_at: null, taken: 0 }])
  expect(await back('a')).toEqual([])
  // A customer that has its access back changes like all others: one too many.
  expect(await back('a', true)).toEqual(['status'])
  expect(await back('a')).toEqual([])
  await age(db, 25)
  await db.sql(`UPDATE rollcall.decided SET spent_at = spent_at - interval '25 hours'`)
  expect([await back('a'), await back('b')]).toEqual([['status'], ['status']])
})

test('while a TRUNCATE is open no customer loses access, and that is counted nowhere', async () => {
  await using db = await freshDatabase()
  await db.sql(`INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('truncate', 'public.clientes')`)
  const brake = makeBrake(db.pool, limits(1))
  const three = await Promise.all(['a', 'b', 'c'].map((key) => brake(request(key))))
  expect(three).toEqual([['truncated'], ['truncated'], ['truncated']])
  expect(await brake(request('d', ['status']))).toEqual([])
  await db.sql('UPDATE rollcall.capture_mark SET resolved_at = now()')
  expect(await brake(request('a'))).toEqual([])
  expect(await rowOf(db, 'revocation')).toMatchObject({ taken: 1, tripped: false })
})
