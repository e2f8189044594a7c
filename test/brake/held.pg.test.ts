import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { discard, release } from '../../src/brake/held.ts'
import { brakeNeedsPerson, listDecisions, listHeld, readBrake } from '../../src/brake/list.ts'
import { makeBrake } from '../../src/brake/reserve.ts'
import { makeReadRecord } from '../../src/ledger/record.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { held, keys, limits, put } from './scene.ts'

const PERSON = { by: 'ana@here', why: 'the contract has ended' }

async function owedOf(pool: Pool) {
  const { rows } = await pool.query<{ key: string; version: number; due: string | null; lane: number }>(
    `SELECT key, change_version::int AS version, lane,
       CASE WHEN due_at <= now() THEN 'now' WHEN due_at IS NOT NULL THEN 'later' END AS due
     FROM rollcall.owed ORDER BY key`,
  )
  return Object.fromEntries(rows.map(({ key, ...owed }) => [key, owed]))
}

async function statesOf(pool: Pool): Promise<Record<string, string>> {
  const { rows } = await pool.query<{ key: string; state: string }>('SELECT key, state FROM rollcall.ledger')
  return Object.fromEntries(rows.map(({ key, state }) => [key, state]))
}

async function tripped(pool: Pool): Promise<readonly string[]> {
  return (await readBrake(pool)).filter(({ trippedAt }) => trippedAt !== null).map(({ kind }) => kind)
}

const trip = (pool: Pool, kind: string) =>
  pool.query(
    `WITH b AS (INSERT INTO rollcall.brake (kind, taken, tripped_at, tripped_at_limit) VALUES ($1, 1, now(), 1))
     INSERT INTO rollcall.brake_entry (kind, key) VALUES ($1, 'before')`,
    [kind],
  )

test('a release makes customers due that are held for the kind, and no others; nothing that is on its way is disturbed', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [
    held('a'),
    held('b', ['clear:email', 'revocation']),
    held('c', ['clear:email']),
    held('running', ['revocation'], { token: 7, due: 60 }),
    held('late', ['revocation'], { notBefore: 60 }),
    held('waiting', ['revocation'], { due: 600 }),
    { key: 'fine', sent: 2 },
    { ...held('gone'), state: 'discarded' },
  ])
  const before = await owedOf(db.pool)
  const outcome = await release(db.pool, { kind: 'revocation', ...PERSON })
  expect(outcome).toEqual({ decision: '1', customers: 5, left: 0, reset: [] })
  expect(await owedOf(db.pool)).toEqual({
    ...before,
    a: { version: 4, due: 'now', lane: 2 },
    b: { version: 4, due: 'now', lane: 2 },
    running: { version: 4, due: 'later', lane: 1 },
    late: { version: 4, due: 'later', lane: 2 },
    waiting: { version: 4, due: 'now', lane: 1 },
  })
  const decided = { id: '1', keys: [], at: expect.any(String), ...PERSON }
  expect(await listDecisions(db.pool, 5)).toEqual([
    { ...decided, action: 'release', kind: 'revocation', customers: 5, open: 5 },
  ])
  // Said once more it is done already, and no decision.
  const again = await release(db.pool, { kind: 'revocation', ...PERSON })
  expect(again).toMatchObject({ decision: null, customers: 0 })
  const byKey = await release(db.pool, { keys: ['gone', 'fine', 'nobody'], ...PERSON })
  expect(byKey).toMatchObject({ customers: 1 })
  expect((await owedOf(db.pool)).gone).toEqual({ version: 4, due: 'now', lane: 2 })
  expect((await statesOf(db.pool)).gone).toBe('held')
})

test('a discard leaves them as they are; who is planned again at this moment is left alone', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [
    held('a'),
    held('b', ['status']),
    held('due', ['revocation'], { due: 0 }),
    { key: 'fine' },
  ])
  const before = await owedOf(db.pool)
  expect(await discard(db.pool, { kind: 'revocation', ...PERSON })).toMatchObject({ customers: 1, left: 1 })
  expect(await statesOf(db.pool)).toEqual({ a: 'discarded', b: 'held', due: 'held', fine: 'idle' })
  expect(await owedOf(db.pool)).toEqual(before)
  const { customers } = await listHeld(db.pool, { keys: ['a'], limit: 5 })
  expect(customers).toMatchObject([{ key: 'a', state: 'discarded', kinds: ['revocation'] }])
  expect(customers[0]?.sinceMs).toBeLessThan(60_000)
  expect(await discard(db.pool, { keys: ['a', 'b', 'fine'], ...PERSON })).toMatchObject({
    customers: 1,
    left: 0,
  })
  const [latest] = await listDecisions(db.pool, 1)
  expect(latest).toMatchObject({ action: 'discard', kind: null, customers: 1, open: 0 })
})

test('what was discarded before stays so after a decision on another kind', async () => {
  await using db = await freshDatabase()
  await put(
    db.pool,
    ['a', 'b', 'c', 'changed'].map((key) => held(key, ['absence'])),
  )
  await db.sql(
    `UPDATE rollcall.ledger SET discard = '{"kinds": ["revocation"], "fields": [], "desired": "d"}'`,
  )
  const repair = { code: 'held', kinds: ['repair'], fields: ['email'] }
  await db.sql(`UPDATE rollcall.ledger SET desired = 'another', reason = $1 WHERE key = 'changed'`, [repair])
  await release(db.pool, { keys: ['b'], ...PERSON })
  await discard(db.pool, { keys: ['c', 'changed'], ...PERSON })
  await release(db.pool, { kind: 'absence', ...PERSON })
  const { rows } = await db.sql(
    `SELECT key, l.state, l.reason, l.discard->'kinds' AS discarded, d.kinds FROM rollcall.ledger l JOIN rollcall.decided d USING (key) ORDER BY key`,
  )
  const both = { code: 'held', kinds: ['absence', 'revocation'] }
  expect(rows).toEqual([
    {
      ...{ key: 'a', state: 'held', kinds: ['absence'] },
      ...{ reason: { code: 'held', kinds: ['absence'] }, discarded: ['revocation'] },
    },
    {
      ...{ key: 'b', state: 'held', kinds: ['absence'] },
      ...{ reason: { code: 'held', kinds: ['absence'] }, discarded: ['revocation'] },
    },
    { key: 'c', state: 'discarded', kinds: ['absence'], reason: both, discarded: both.kinds },
    // The earlier one was about another desired user.
    { ...{ key: 'changed', state: 'discarded', kinds: ['repair'], discarded: ['repair'] }, reason: repair },
  ])
  await put(db.pool, [held('two', ['revocation', 'status'])])
  await release(db.pool, { kind: 'revocation', ...PERSON })
  await db.sql(`UPDATE rollcall.owed SET due_at = NULL WHERE key = 'two'`)
  await discard(db.pool, { kind: 'status', ...PERSON })
  expect((await owedOf(db.pool)).two).toMatchObject({ due: 'now', lane: 2 })
  const left = `SELECT reason->'kinds' AS held, discard->'kinds' AS discarded, d.kinds AS released
    FROM rollcall.ledger JOIN rollcall.decided d USING (key) WHERE key = 'two' AND spent_at IS NULL`
  const [revocation, discarded] = [['revocation'], ['status']]
  expect((await db.sql(left)).rows).toEqual([{ held: revocation, discarded, released: revocation }])
})

test('a kind stays tripped until no customer waits for it, and then counts from nothing', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [held('a'), held('b'), held('c', ['revocation', 'clear:email'])])
  await trip(db.pool, 'revocation')
  await trip(db.pool, 'clear:email')
  expect((await release(db.pool, { keys: ['a'], ...PERSON })).reset).toEqual([])
  expect((await discard(db.pool, { keys: ['b'], ...PERSON })).reset).toEqual([])
  expect(await tripped(db.pool)).toEqual(['clear:email', 'revocation'])
  expect((await release(db.pool, { kind: 'clear:email', ...PERSON })).reset).toEqual(['clear:email'])
  expect((await release(db.pool, { kind: 'revocation', ...PERSON })).reset).toEqual(['revocation'])
  expect(await tripped(db.pool)).toEqual([])
  const { rows } = await db.sql(
    'SELECT (SELECT sum(taken)::int FROM rollcall.brake) AS taken, (SELECT count(*)::int FROM rollcall.brake_entry WHERE NOT forgotten) AS entries',
  )
  expect(rows).toEqual([{ taken: 0, entries: 0 }])
})

test('a kind that has tripped and holds no customer any more needs a person as well, who is written down', async () => {
  await using db = await freshDatabase()
  await trip(db.pool, 'status')
  expect((await readBrake(db.pool)).filter(brakeNeedsPerson)).toMatchObject([
    { kind: 'status', held: 0, limit: 1, taken: 1 },
  ])
  expect(await discard(db.pool, { kind: 'status', ...PERSON })).toEqual({
    decision: '1',
    customers: 0,
    left: 0,
    reset: ['status'],
  })
  expect(await listDecisions(db.pool, 5)).toMatchObject([{ kind: 'status', customers: 0, ...PERSON }])
  expect(await discard(db.pool, { kind: 'status', ...PERSON })).toMatchObject({ decision: null, reset: [] })
})

test('held after a TRUNCATE: released by kind, and the mark stays open', async () => {
  await using db = await freshDatabase()
  await db.sql(`INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('truncate', 'public.clientes')`)
  await put(db.pool, [held('a', ['truncated'])])
  expect(await release(db.pool, { kind: 'truncated', ...PERSON })).toMatchObject({ customers: 1, reset: [] })
  const brake = makeBrake(db.pool, limits(0, 0))
  expect(await brake({ key: 'a', desiredDigest: 'd', kinds: ['revocation'] })).toEqual([])
  const { rows } = await db.sql('SELECT resolved_at FROM rollcall.capture_mark')
  expect(rows).toEqual([{ resolved_at: null }])
})

test.each([
  ['release', release],
  ['discard', discard],
] as const)(
  'a %s that is killed in the middle: the next call goes on, and no customer is decided on twice',
  async (name, decide) => {
    await using db = await freshDatabase()
    await trip(db.pool, 'revocation')
    await put(
      db.pool,
      keys(2500).map((key) => held(key)),
    )
    await using other = await db.session()
    await other.query('BEGIN')
    await other.query(`SELECT FROM rollcall.owed WHERE key = 'k01500' FOR UPDATE`)
    const outcome = decide(db.pool, { kind: 'revocation', ...PERSON }).then(
      () => 'done',
      (error: Error) => error.message,
    )
    // It has stored its first page, and waits in its second.
    await until(async () => {
      const { rows } = await db.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE'`,
      )
      return rows.length === 1
    })
    expect(await outcome).toContain('terminating connection')
    await other.query('ROLLBACK')
    expect(await listDecisions(db.pool, 5)).toMatchObject([{ id: '1', action: name, customers: 1000 }])
    expect(await tripped(db.pool)).toEqual(['revocation'])

    const rest = await decide(db.pool, { kind: 'revocation', ...PERSON })
    expect(rest).toEqual({ decision: '2', customers: 1500, left: 0, reset: ['revocation'] })
    const { rows } = await db.sql(
      'SELECT count(*)::int AS n, count(DISTINCT key)::int AS keys FROM rollcall.decided',
    )
    expect(rows).toEqual([{ n: 2500, keys: 2500 }])
    const versions = new Set(Object.values(await owedOf(db.pool)).map(({ version }) => version))
    expect([...versions]).toEqual([name === 'release' ? 4 : 3])
  },
)

test('two at once share the work: each customer is decided on once', async () => {
  await using db = await freshDatabase()
  await put(
    db.pool,
    keys(2500).map((key) => held(key)),
  )
  const both = await Promise.all([1, 2, 3].map(() => release(db.pool, { kind: 'revocation', ...PERSON })))
  expect(both.reduce((sum, { customers }) => sum + customers, 0)).toBe(2500)
  const versions = new Set(Object.values(await owedOf(db.pool)).map(({ version }) => version))
  expect([...versions]).toEqual([4])
  const decisions = await listDecisions(db.pool, 5)
  expect(decisions.reduce((sum, { customers }) => sum + customers, 0)).toBe(2500)
})

test('the list says who waits for what, in pages; the summary counts them by kind', async () => {
  await using db = await freshDatabase()
  await put(db.pool, [
    held('a', ['revocation'], { sent: 2, seen: 4 }),
    held('b', ['status', 'clear:email', 'clear:gender']),
    held('c', ['revocation']),
    { ...held('d', ['create']), state: 'discarded' },
    { key: 'e', state: 'rejected' },
  ])
  await release(db.pool, { keys: ['c'], ...PERSON })
  const recordOf = makeReadRecord(db.pool)
  const all = await listHeld(db.pool, { limit: 2 })
  expect(all.total).toBe(3)
  expect(all.customers).toMatchObject([
    {
      key: 'a',
      userId: 'u-a',
      kinds: ['revocation'],
      released: false,
      what: { statusFrom: 4, statusTo: 0, fields: [] },
    },
    { key: 'b', what: { statusFrom: 2, statusTo: null, fields: ['email', 'gender'] } },
  ])
  expect(all.customers[0]?.sinceMs).toBeGreaterThan(290_000)
  const { customers } = await listHeld(db.pool, { limit: 9, keys: ['c'] })
  expect(customers).toMatchObject([{ key: 'c', released: true }])
  expect([await recordOf('a'), await recordOf('c')]).toMatchObject([{ released: false }, { released: true }])
  expect(
    (await listHeld(db.pool, { limit: 9, kind: 'clear:email' })).customers.map(({ key }) => key),
  ).toEqual(['b'])
  expect((await listHeld(db.pool, { limit: 9, keys: ['d', 'e'] })).customers.map(({ key }) => key)).toEqual([
    'd',
  ])

  const summary = (await readBrake(db.pool)).map(({ kind, held: n, released, discarded }) => [
    kind,
    n,
    released,
    discarded,
  ])
  expect(summary).toEqual([
    ['clear:email', 1, 0, 0],
    ['clear:gender', 1, 0, 0],
    ['revocation', 1, 1, 0],
    ['status', 1, 0, 0],
    ['create', 0, 0, 1],
  ])
})
