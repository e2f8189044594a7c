// A row is a check's only for as long as nothing else wants it.
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { claimChecks, endChecks } from '../../src/ledger/check.ts'
import { knownKeysIfAny } from '../../src/ledger/history.ts'
import { leaseLane } from '../../src/ledger/lease.ts'
import { note } from '../../src/ledger/note.ts'
import { noteLookup, noteVerifications } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { freshDatabase } from '../support/database.ts'

const MAPPING = { fingerprint: 'ours', lastsMs: 60_000 }

async function openDatabase() {
  const db = await freshDatabase()
  await db.sql(`INSERT INTO rollcall.generation (id, fingerprint, swept_at) VALUES (1, 'ours', now())`)
  return db
}

async function row(pool: Pool, key: string) {
  const { rows } = await pool.query(
    `SELECT change_version::int AS version, unknown, token IS NOT NULL AS out, due_at <= now() AS due FROM rollcall.owed
     WHERE key = $1`,
    [key],
  )
  return rows[0]
}

const asChecks = (tokens: ReadonlyMap<string, string>) => [...tokens].map(([key, token]) => ({ key, token }))

test.each([
  ['a change', async (pool: Pool) => note(pool, [{ key: 'a', lane: LANE.change, at: new Date() }])],
  ['a repair', async (pool: Pool) => noteLookup(pool, ['a'], LANE.repair)],
])('%s takes the row from a check at once, whose ending then counts for nothing', async (_, take) => {
  await using db = await openDatabase()
  const { pool } = db
  const checks = await claimChecks(pool, ['a'], MAPPING)
  expect(await row(pool, 'a')).toEqual({ version: 0, unknown: false, out: true, due: null })
  await take(pool)
  expect(await row(pool, 'a')).toMatchObject({ version: 1, out: false, due: true })
  expect(await endChecks(pool, asChecks(checks), 'ours')).toEqual(new Set())
  expect(await row(pool, 'a')).toMatchObject({ due: true })
  const [lease] = await leaseLane(pool, { lane: (await laneOf(pool)) as 1, leaseMs: 1000, limit: 1 })
  expect(await endChecks(pool, [{ key: 'a', token: lease?.token ?? '' }], 'ours')).toEqual(new Set())
})

async function laneOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query(`SELECT lane FROM rollcall.owed WHERE key = 'a'`)
  return rows[0].lane
}

test('a customer is not checked that is owed, unknown, about to be planned, or claimed elsewhere', async () => {
  await using db = await openDatabase()
  const { pool } = db
  await pool.query(`
    INSERT INTO rollcall.owed (key, change_version, lane, due_at, unknown, replan_at, verify_left, verify_at, check_until, token) VALUES
      ('checked', 1, 1, NULL, false, NULL, 0, NULL, now() + interval '1 minute', 5),
      ('crashed', 1, 1, NULL, true, NULL, 0, NULL, NULL, NULL),
      ('free', 1, 1, NULL, false, now() + interval '1 hour', 0, NULL, NULL, NULL),
      ('held', 1, 1, NULL, false, NULL, 0, NULL, NULL, NULL),
      ('owed', 1, 1, now() + interval '1 hour', false, NULL, 0, NULL, NULL, NULL),
      ('passed', 1, 1, NULL, false, now(), 0, NULL, NULL, NULL),
      ('verified', 1, 1, NULL, false, NULL, 1, now() + interval '1 hour', NULL, NULL)`)
  const holder = await pool.connect()
  await holder.query(`BEGIN; SELECT FROM rollcall.owed WHERE key = 'held' FOR UPDATE`)
  const keys = ['checked', 'crashed', 'free', 'held', 'new', 'owed', 'passed', 'verified']
  const claimed = await claimChecks(pool, keys, MAPPING)
  await holder.query('ROLLBACK')
  holder.release()
  expect([...claimed.keys()].sort()).toEqual(['free', 'new', 'verified'])
  expect(await claimChecks(pool, ['held'], { ...MAPPING, fingerprint: 'another' })).toEqual(new Map())
  // A customer that was only ever checked is no known customer.
  expect(await knownKeysIfAny(pool, ['free', 'new'])).toEqual(new Set(['free']))
  expect(await endChecks(pool, asChecks(claimed), 'ours')).toEqual(new Set(['free', 'new', 'verified']))
  // The check that follows an unknown outcome comes when it was to come.
  const { rows } = await pool.query(
    `SELECT key FROM rollcall.owed WHERE verify_at > now() + interval '59 minutes' AND token IS NULL`,
  )
  expect(rows).toEqual([{ key: 'verified' }])
})

test('a check that died leaves nothing unknown, and blocks its customer no longer than it lasts', async () => {
  await using db = await openDatabase()
  const { pool } = db
  await claimChecks(pool, ['a'], MAPPING)
  // Looks after an unknown outcome are still to come: that is another time.
  await pool.query(`UPDATE rollcall.owed SET verify_left = 1, verify_at = now() + interval '10 minutes'`)
  expect(await claimChecks(pool, ['a'], MAPPING)).toEqual(new Map())
  await pool.query(`UPDATE rollcall.owed SET check_until = now()`)
  const again = await claimChecks(pool, ['a'], MAPPING)
  expect([...again.keys()]).toEqual(['a'])
  // The clock was set back since.
  await pool.query(`UPDATE rollcall.owed SET check_until = now() + interval '1 hour'`)
  expect([...(await claimChecks(pool, ['a'], MAPPING)).keys()]).toEqual(['a'])
  await note(pool, [{ key: 'a', lane: LANE.change, at: new Date() }])
  await leaseLane(pool, { lane: LANE.change, leaseMs: 1000, limit: 1 })
  expect(await row(pool, 'a')).toMatchObject({ unknown: false, out: true })
})

test('what was seen under one mapping does not count under the next', async () => {
  await using db = await openDatabase()
  const { pool } = db
  const checks = asChecks(await claimChecks(pool, ['a'], MAPPING))
  await pool.query(`INSERT INTO rollcall.generation (id, fingerprint) VALUES (2, 'another')`)
  expect(await endChecks(pool, checks, 'ours')).toEqual(new Set())
  expect(await row(pool, 'a')).toMatchObject({ out: false })
})

test('the lookup that is owed after an unknown outcome takes the row from a check, and makes nothing unknown', async () => {
  await using db = await openDatabase()
  const { pool } = db
  await pool.query(`INSERT INTO rollcall.owed (key, change_version, lane, verify_left, verify_at)
    VALUES ('a', 1, 1, 2, now() + interval '1 hour')`)
  const checks = await claimChecks(pool, ['a'], MAPPING)
  await pool.query(`UPDATE rollcall.owed SET verify_at = now()`)
  expect(await noteVerifications(pool, 10)).toBe(1)
  expect(await endChecks(pool, asChecks(checks), 'ours')).toEqual(new Set())
  await leaseLane(pool, { lane: (await laneOf(pool)) as 1, leaseMs: 1000, limit: 1 })
  const { rows } = await pool.query('SELECT hidden_unknown, verify_left, call_token FROM rollcall.owed')
  expect(rows).toEqual([{ hidden_unknown: false, verify_left: 1, call_token: null }])
})
