import { beforeAll, expect, test } from 'vitest'
import { readHistory } from '../../src/ledger/history.ts'
import { freshDatabase } from '../support/database.ts'
import { LOGGED_CALL } from '../support/history.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())
beforeAll(async () => {
  await db.sql(`INSERT INTO rollcall.ledger
    (key, user_id, remote, state, reason, issues, since, changed_at, acknowledged_at, verified_at)
    VALUES ('full', 'u1', 'present', 'failing', '{"code": "unknown", "status": 503}',
      '[{"field": "email", "code": "invalid", "expected": "an e-mail address"}]',
      '2026-01-02 03:04:05.678+01', '2026-01-02 03:00:00+00', '2026-01-02 03:00:01+00', NULL)`)
  await db.sql(`INSERT INTO rollcall.owed (key, change_version, lane, due_at, attempts, unknown, token, verify_left) VALUES
    ('full', 3, 1, now() + interval '1 minute', 4, true, NULL, 2),
    ('running', 1, 1, now() + interval '1 minute', 0, false, 9, 0)`)
  await db.sql(`INSERT INTO rollcall.call (key, at, by, plan, method, status, error, meaning, ms, fields, answer)
    SELECT 'full', '2026-01-02 03:00:00+00'::timestamptz + n * interval '1 s', 'worker h/1', 'patch', 'PATCH', 200 + n,
      NULL, 'done', n, '{status,email}', 'x' FROM unnest('{2,1,3,4}'::int[]) n`)
  await db.sql(`INSERT INTO rollcall.outbox (key, lane) VALUES ('captured', 1)`)
})

test('tells all that the tables hold of a customer, times as ISO text in UTC', async () => {
  const history = await readHistory(db.pool, 'full', 50)
  expect(history).toMatchObject({
    state: 'failing',
    reason: { code: 'unknown', status: 503 },
    issues: [{ field: 'email', code: 'invalid', expected: 'an e-mail address' }],
    since: '2026-01-02T02:04:05.678Z',
    attempts: 4,
    owed: true,
    underWay: false,
    capturedMs: null,
    unknown: true,
    unverified: true,
    changedAt: '2026-01-02T03:00:00.000Z',
    acknowledgedAt: '2026-01-02T03:00:01.000Z',
    verifiedAt: null,
    userId: 'u1',
    remote: 'present',
  })
  expect(history?.nextInMs).toBeGreaterThan(30_000)
  expect(history?.nextInMs).toBeLessThanOrEqual(60_000)
})

test('gives the calls by the time when they were made, not in the order in which they were written', async () => {
  const history = await readHistory(db.pool, 'full', 50)
  expect(history?.calls.map(({ status }) => status)).toEqual([201, 202, 203, 204])
  expect(history?.calls[0]).toEqual(LOGGED_CALL)
  expect((await readHistory(db.pool, 'full', 2))?.calls.map(({ status }) => status)).toEqual([203, 204])
})

test('a token that is out is an attempt under way, and its lease is not taken for the next one', async () => {
  const history = await readHistory(db.pool, 'running', 50)
  expect(history).toMatchObject({ owed: true, underWay: true, nextInMs: null, state: 'idle', calls: [] })
  await db.pool.query(`UPDATE rollcall.owed SET due_at = now() - interval '1 minute' WHERE key = 'running'`)
  expect((await readHistory(db.pool, 'running', 50))?.nextInMs).toBeLessThan(0)
})

test('a change that waits in the outbox is known, and a key that stands nowhere is not', async () => {
  expect(await readHistory(db.pool, 'captured', 50)).toMatchObject({
    capturedMs: expect.any(Number),
    owed: true,
  })
  expect(await readHistory(db.pool, 'nobody', 50)).toBeNull()
})
