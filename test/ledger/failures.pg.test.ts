import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { listFailing, readFailures } from '../../src/ledger/failures.ts'
import { retryAll, retryKeys } from '../../src/ledger/retry.ts'
import { freshDatabase } from '../support/database.ts'

type Row = {
  readonly key: string
  readonly state?: string
  readonly reason?: object | null
  readonly issues?: readonly object[]
  readonly refused?: object
  /** How long ago it came into this state, in seconds. */
  readonly ago?: number
  /** In how many seconds it is due; null for never. */
  readonly due?: number | null
  readonly attempts?: number
}

async function put(pool: Pool, rows: readonly Row[]): Promise<void> {
  await pool.query(
    `WITH r AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS r (key text, state text, reason jsonb, issues jsonb,
       refused jsonb, ago float8, due float8, attempts int)),
     o AS (INSERT INTO rollcall.owed (key, change_version, synced_version, lane, due_at, attempts)
       SELECT key, 3, 3, 1, now() + due * interval '1 s', coalesce(attempts, 0) FROM r)
     INSERT INTO rollcall.ledger (key, state, reason, issues, refused, since)
     SELECT key, coalesce(state, 'idle'), nullif(reason, 'null'), coalesce(issues, '[]'), coalesce(refused, '{}'),
       now() - ago * interval '1 s' FROM r`,
    [JSON.stringify(rows)],
  )
}

const EMAIL = { field: 'email', code: 'invalid', expected: 'an e-mail address' }

const SOME: readonly Row[] = [
  { key: 'fine' },
  { key: 'm1', state: 'rejected', reason: { code: 'mapping', fields: ['status'] }, issues: [EMAIL], ago: 60 },
  {
    key: 'm2',
    state: 'rejected',
    reason: { code: 'mapping', fields: ['status', 'email'] },
    issues: [{ ...EMAIL, field: 'status' }, EMAIL],
    ago: 600,
  },
  { key: 'r1', state: 'rejected', reason: { code: 'refused', status: 422, fields: ['email'] }, ago: 5 },
  {
    key: 'f1',
    state: 'failing',
    reason: { code: 'unknown', error: 'timeout', fields: ['email'], named: ['email'] },
    due: 90,
    attempts: 4,
    ago: 9,
  },
  {
    key: 'f2',
    state: 'failing',
    reason: { code: 'unknown', error: 'timeout', fields: ['email'] },
    due: 30,
    ago: 8,
  },
  { key: 'f3', state: 'failing', reason: { code: 'unknown', status: 503 }, due: 60, ago: 7 },
  { key: 'l1', issues: [EMAIL] },
  { key: 'l2', issues: [EMAIL, { ...EMAIL, code: 'refused' }] },
]

test('groups by state, code, status and error, the worst first; names only where all agree', async () => {
  await using db = await freshDatabase()
  expect(await readFailures(db.pool)).toEqual({
    origin: null,
    customers: { rejected: 0, failing: 0, leftOut: 0 },
    reasons: [],
    issues: [],
  })
  await put(db.pool, SOME)
  const { customers, reasons, issues } = await readFailures(db.pool)
  expect(customers).toEqual({ rejected: 3, failing: 3, leftOut: 2 })
  expect(
    reasons.map(({ state, code, status, error, customers: many, example, fields, named }) => [
      [state, code, status ?? error, many, example],
      fields,
      named,
    ]),
  ).toEqual([
    [['rejected', 'mapping', null, 2, 'm1'], null, null],
    [['rejected', 'refused', 422, 1, 'r1'], ['email'], null],
    [['failing', 'unknown', 'timeout', 2, 'f1'], ['email'], null],
    [['failing', 'unknown', 503, 1, 'f3'], null, null],
  ])
  const [mapping, , timeout] = reasons
  expect(mapping?.sinceMs).toBeGreaterThanOrEqual(600_000)
  expect(mapping?.since).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  expect([mapping?.nextInMs, timeout?.underWay]).toEqual([null, false])
  expect(timeout?.nextInMs).toBeGreaterThan(10_000)
  expect(timeout?.nextInMs).toBeLessThanOrEqual(30_000)
  expect(issues).toMatchObject([
    // Strict: it alone rejects. Beside a status that rejects, nothing is left out, since nothing is sent.
    { ...EMAIL, blocks: true, customers: 1, example: 'm1' },
    { ...EMAIL, field: 'status', blocks: true, customers: 1, example: 'm2', sinceMs: expect.any(Number) },
    { ...EMAIL, blocks: false, customers: 2, example: 'l1' },
    { ...EMAIL, code: 'refused', blocks: false, customers: 1, example: 'l2' },
  ])
})

test('lists the customers of a reason, the oldest first, and says how many there are', async () => {
  await using db = await freshDatabase()
  await put(db.pool, SOME)
  const keysOf = async (...[selector, limit]: [Parameters<typeof listFailing>[1], number?]) => {
    const { customers, total } = await listFailing(db.pool, selector, limit ?? 100)
    return [customers.map(({ key }) => key), total]
  }
  expect(await keysOf({ kind: 'reason', code: 'unknown', detail: null })).toEqual([['f1', 'f2', 'f3'], 3])
  expect(await keysOf({ kind: 'reason', code: 'unknown', detail: null }, 1)).toEqual([['f1'], 3])
  expect(await keysOf({ kind: 'reason', code: 'unknown', detail: '503' })).toEqual([['f3'], 1])
  expect(await keysOf({ kind: 'reason', code: 'unknown', detail: 'timeout' })).toEqual([['f1', 'f2'], 2])
  expect(await keysOf({ kind: 'reason', code: 'refused', detail: '400' })).toEqual([[], 0])
  expect(await keysOf({ kind: 'issue', field: 'email', code: null })).toEqual([['m2', 'm1', 'l1', 'l2'], 4])
  expect(await keysOf({ kind: 'issue', field: 'email', code: 'refused' })).toEqual([['l2'], 1])
  expect((await keysOf({ kind: 'all' }))[1]).toBe(8)
  const { customers } = await listFailing(db.pool, { kind: 'reason', code: 'unknown', detail: null }, 1)
  expect(customers[0]).toMatchObject({ key: 'f1', state: 'failing', attempts: 4, underWay: false })
})

/** `due` to ten seconds, since the statements before it take their time. */
const OWED = `SELECT key, change_version::int AS version, lane, token IS NOT NULL AS out,
  10 * round(extract(epoch FROM due_at - now()) / 10)::int AS due FROM rollcall.owed ORDER BY key`

test('trying again makes due and forgets refused values, but shortens no wait and touches no live claim', async () => {
  await using db = await freshDatabase()
  const refused = { email: 'digest' }
  await put(
    db.pool,
    ['idle', 'failing', 'held-back', 'claimed', 'other'].map((key) => ({ key, refused, due: 600 })),
  )
  await db.sql(`UPDATE rollcall.ledger SET conflict = '{"values": {"email": "digest"}, "tries": 3}'`)
  await db.sql(`UPDATE rollcall.owed SET due_at = NULL WHERE key = 'idle'`)
  await db.sql(`UPDATE rollcall.owed SET not_before = now() + interval '300 s' WHERE key = 'held-back'`)
  await db.sql(`UPDATE rollcall.owed SET token = 7, call_token = 7 WHERE key = 'claimed'`)
  const keys = ['held-back', 'nobody', 'claimed', 'idle', 'failing', 'idle']
  expect(await retryKeys(db.pool, keys)).toEqual({
    customers: 4,
    underWay: 1,
    waiting: 1,
    unheardOf: ['nobody'],
  })
  const { rows } = await db.sql(OWED)
  expect(rows.map(({ due, ...row }) => ({ ...row, due: Math.max(due, 0) }))).toEqual([
    { key: 'claimed', version: 4, lane: 1, out: true, due: 600 },
    { key: 'failing', version: 4, lane: 1, out: false, due: 0 },
    { key: 'held-back', version: 4, lane: 1, out: false, due: 300 },
    { key: 'idle', version: 4, lane: 1, out: false, due: 0 },
    { key: 'other', version: 3, lane: 1, out: false, due: 600 },
  ])
  const { rows: kept } = await db.sql(
    `SELECT key FROM rollcall.ledger WHERE refused <> '{}' OR conflict IS NOT NULL`,
  )
  expect(kept).toEqual([{ key: 'other' }])
})

test('more than a page of customers are all tried again, those with the reason alone, by two at once', async () => {
  await using db = await freshDatabase()
  const rows = Array.from({ length: 2500 }, (_, index) => ({
    key: `k${index}`,
    state: 'rejected',
    reason: { code: 'refused', status: index % 5 === 0 ? 400 : 422 },
  }))
  await put(db.pool, [...rows, { key: 'z', issues: [EMAIL] }])
  const selector = { kind: 'reason', code: 'refused', detail: '422' } as const
  const both = await Promise.all([retryAll(db.pool, selector), retryAll(db.pool, selector)])
  expect(both.map(({ customers }) => customers)).toEqual([2000, 2000])
  const due = async () =>
    (await db.sql(`SELECT count(*)::int AS n FROM rollcall.owed WHERE due_at <= now()`)).rows[0].n
  expect(await due()).toBe(2000)
  expect((await retryAll(db.pool, { kind: 'all' })).customers).toBe(2501)
  expect(await due()).toBe(2501)
  const { rows: lanes } = await db.sql('SELECT DISTINCT lane FROM rollcall.owed')
  expect(lanes).toEqual([{ lane: 2 }])
})
