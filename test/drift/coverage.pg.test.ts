import type { Pool } from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { readVerification } from '../../src/drift/coverage.ts'
import { drawSample, writeSample } from '../../src/drift/evidence.ts'
import { acceptTarget } from '../../src/ledger/accept.ts'
import { held, keys, put } from '../brake/scene.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'

const HOUR = 3_600_000
const PERIOD = 24 * HOUR

const db = ofFile(() => freshDatabase())
let pool: Pool
beforeAll(() => {
  pool = db.pool
})
beforeEach(async () => {
  await pool.query('TRUNCATE rollcall.owed, rollcall.ledger, rollcall.finding, rollcall.run, rollcall.pace')
})

const settled = (many: number) => keys(many).map((key) => ({ key, sent: 2 }))

/** Hours ago, by column; of the ledger row of that key. */
async function ago(key: string, hours: Readonly<Record<string, number>>): Promise<void> {
  for (const [column, count] of Object.entries(hours))
    await pool.query(`UPDATE rollcall.ledger SET ${column} = now() - $2 * interval '1 hour' WHERE key = $1`, [
      key,
      count,
    ])
}

test('counts customers that were checked within the period, by a verification or a sync', async () => {
  await put(pool, [
    ...settled(5),
    { key: 'rejected', sent: 2, state: 'rejected' },
    { key: 'unasked', remote: 'unasked' },
  ])
  await ago('k00001', { checked_at: 1, verified_at: 90 })
  await ago('k00002', { checked_at: 90, verified_at: 2 })
  await ago('k00003', { checked_at: 30 })
  await ago('k00004', { verified_at: 40 })
  await ago('rejected', { checked_at: 99 })
  const { coverage } = await readVerification(pool, PERIOD)
  expect(coverage).toMatchObject({ customers: 5, within: 2, never: 1, overdue: 0 })
  expect(coverage.oldestAgeMs).toBeCloseTo(40 * HOUR, -5)
})

test('a check of the future is none: the clock was set back since', async () => {
  await put(pool, settled(3))
  await ago('k00001', { checked_at: -24 })
  await ago('k00002', { checked_at: -24, verified_at: 1 })
  await ago('k00003', { verified_at: -24 })
  const { coverage } = await readVerification(pool, PERIOD)
  expect(coverage).toMatchObject({ customers: 3, within: 1, never: 2 })
})

test('no customer is overdue before workers have been at it for a whole period', async () => {
  await put(pool, settled(3))
  await ago('k00001', { checked_at: 1 })
  const overdue = async (periodMs: number | null = 24 * HOUR) =>
    (await readVerification(pool, periodMs)).coverage.overdue
  await pool.query(
    `INSERT INTO rollcall.pace (ceiling, rate, checks_since) SELECT 1, 1, now() - interval '23 h'`,
  )
  expect(await overdue()).toBe(0)
  await pool.query(`UPDATE rollcall.pace SET checks_since = now() - interval '25 h'`)
  expect(await overdue()).toBe(2)
  expect(await overdue(null)).toBe(0)
  const client = await pool.connect()
  await acceptTarget(client, { origin: 'https://service.example', apiKey: 'k', digestKey: 'd' }, 'new')
  client.release()
  expect(await overdue()).toBe(0)
})

test('time from commit to verification: of changes that were proved, and of no other', async () => {
  await put(pool, settled(5))
  await ago('k00001', { changed_at: 10, proved_at: 9 })
  await ago('k00002', { changed_at: 10, proved_at: 8 })
  await ago('k00003', { changed_at: 10, proved_at: 5 })
  // A change that no check has shown yet, and a customer without any record.
  await ago('k00004', { changed_at: 2, proved_at: 3 })
  await ago('k00005', { proved_at: 3 })
  const { proof } = (await readVerification(pool, PERIOD)).coverage
  expect(proof?.customers).toBe(3)
  expect(proof?.medianMs).toBeCloseTo(2 * HOUR, -4)
  expect(proof?.p95Ms).toBeCloseTo(4.7 * HOUR, -5)
})

test('findings that are confirmed and open, and held customers', async () => {
  const made = `INSERT INTO rollcall.finding (key, kind, fields, cause, access, checks, resolved_at)`
  await pool.query(`${made} VALUES ('a', 'missing', '{}', 'edited-at-service', 'lost', 2, NULL),
    ('b', 'differs', '{status}', 'edited-at-service', 'undue', 3, NULL),
    ('c', 'differs', '{status}', 'edited-at-service', 'undue', 1, NULL),
    ('e', 'differs', '{email}', 'edited-at-service', NULL, 2, NULL), ('f', 'trial-ended', '{status}', NULL, NULL, 2, NULL),
    ('d', 'missing', '{}', 'edited-at-service', 'lost', 2, now())`)
  const { open, access } = await readVerification(pool, PERIOD)
  expect(open).toMatchObject({ missing: 1, differs: 2, unreadable: 0, 'trial-ended': 1 })
  expect(access).toEqual({ lost: 1, undue: 1 })
  // A held customer counts with them, once, and only by its record; a discarded customer does not.
  await put(pool, [
    { ...held('a', ['status']), sent: 0 },
    held('e'),
    held('h'),
    held('i', ['truncated']),
    { ...held('j', ['status']), sent: 0 },
    { ...held('k'), remote: 'unknown' },
    { ...held('l'), sent: null },
    { ...held('m', ['create']), remote: 'absent', sent: null },
    { ...held('n'), state: 'discarded' },
  ])
  await pool.query(`UPDATE rollcall.ledger SET reason = reason || '{"entitles": true}' WHERE key = 'm'`)
  expect(await readVerification(pool, PERIOD)).toMatchObject({
    ...{ access: { lost: 3, undue: 4 }, heldAccess: { lost: 2, undue: 3 } },
  })
  await pool.query(`UPDATE rollcall.owed SET unknown = true WHERE key = 'h'`)
  await pool.query(`UPDATE rollcall.owed SET status_unknown = true WHERE key = 'i'`)
  expect((await readVerification(pool, PERIOD)).heldAccess).toEqual({ lost: 2, undue: 1 })
})

test.each([
  ['more than two fifths are not there', 30, 13, true],
  ['two fifths are', 30, 12, false],
  ['so few that it says nothing of the service', 4, 0, false],
  ['so few, and none is there', 4, 4, true],
])('answers about many missing users are not credible: %s', async (_, asked, strange, bad) => {
  await pool.query('INSERT INTO rollcall.pace (ceiling, rate) VALUES (1, 1)')
  const { at } = await drawSample(pool, 1)
  await writeSample(pool, at, { asked, strange, wanted: asked })
  expect((await readVerification(pool, PERIOD)).notCredible).toEqual(bad ? { asked, missing: strange } : null)
  // A sample of an hour ago no longer counts.
  await pool.query(`UPDATE rollcall.pace SET sampled_at = now() - interval '61 min'`)
  expect((await readVerification(pool, PERIOD)).notCredible).toBeNull()
})
