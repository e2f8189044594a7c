import { expect, test } from 'vitest'
import type { Ending } from '../../src/ledger/end-of-claim.ts'
import { makeEnd } from '../../src/ledger/ending.ts'
import { noteReplans } from '../../src/ledger/note.ts'
import { NEVER_SETTLED } from '../../src/ledger/record.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

const { writtenAgoMs: _written, verifiedAgoMs: _seen, newcomer: _new, ...EMPTY } = NEVER_SETTLED

/** An ending of the claim with token 7 for version 3. */
function ending(id: string, given: Partial<Ending> = {}): Ending {
  return {
    ...{ id, token: '7', key: 'c', version: '3', kind: 'settle' },
    ...{
      sure: true,
      wrote: true,
      acknowledged: false,
      failed: false,
      verified: false,
      looked: false,
      carried: [],
    },
    ...{
      gapMs: 0,
      backoffMs: 1000,
      lateMs: 5000,
      unclear: false,
      replanAtMs: null,
      claimedAtMs: 0,
      changedAtMs: null,
    },
    ...{ generation: '1', desired: null, withdrawsDoubt: false, clear: true, lowered: false },
    ...{ noteKeys: [], newcomer: false, record: { ...EMPTY, userId: 'u' }, lastAnswer: null },
    ...given,
  }
}

type Row = {
  readonly doubted: boolean
  readonly left: number
  readonly verifies: boolean
  readonly owed: boolean
}

/** Ends an open claim on a row with these columns, and tells what the row is then. */
async function end(
  db: TestDatabase,
  columns: Readonly<Record<string, unknown>>,
  given: Partial<Ending>,
): Promise<Row> {
  const values = { change_version: 3, lane: 1, token: 7, call_token: 7, ...columns }
  const names = Object.keys(values)
  await db.pool.query('DELETE FROM rollcall.owed')
  const { rows: made } = await db.pool.query(
    `INSERT INTO rollcall.owed (key, due_at, ${names.join(', ')})
     VALUES ('c', now() + interval '30 s', ${names.map((_, i) => `$${i + 1}`).join(', ')}) RETURNING id::text`,
    Object.values(values),
  )
  expect(await makeEnd(db.pool)(ending(made[0].id, given))).toBe(true)
  const { rows } = await db.pool.query(
    `SELECT status_doubted AS doubted, verify_left AS left, check_at IS NOT NULL AS verifies, due_at IS NOT NULL AS owed
     FROM rollcall.owed WHERE key = 'c'`,
  )
  return rows[0]
}

test('a doubt about the status ends with a trusted answer, unless the row became suspect after the claim', async () => {
  await using db = await freshDatabase()
  const doubted = { status_doubted: true }
  expect(await end(db, doubted, { sure: true })).toMatchObject({ doubted: false })
  expect(await end(db, doubted, { sure: false })).toMatchObject({ doubted: true })
  expect(await end(db, { ...doubted, change_version: 4, suspect_version: 4 }, { sure: true })).toMatchObject({
    doubted: true,
  })
})

test('an attempt of which nothing was carried out takes its own doubt back, and no later one', async () => {
  await using db = await freshDatabase()
  const doubted = { status_doubted: true }
  const retry = { kind: 'retry', failed: true } as const
  expect(await end(db, doubted, retry)).toMatchObject({ doubted: true })
  expect(await end(db, doubted, { ...retry, withdrawsDoubt: true })).toMatchObject({ doubted: false })
  const suspect = { ...doubted, change_version: 4, suspect_version: 4 }
  expect(await end(db, suspect, { ...retry, withdrawsDoubt: true })).toMatchObject({ doubted: true })
})

test('only a settle that clears an unknown outcome up sets the time of the next look, as long as one is to come', async () => {
  await using db = await freshDatabase()
  const open = { unknown: true, verify_left: 2 }
  expect(await end(db, open, {})).toMatchObject({ left: 2, verifies: true })
  expect(await end(db, { ...open, verify_left: 1 }, {})).toMatchObject({ left: 1, verifies: true })
  expect(await end(db, { ...open, verify_left: 0 }, {})).toMatchObject({ left: 0, verifies: false })
  expect(await end(db, { ...open, unknown: false }, {})).toMatchObject({ left: 2, verifies: false })
  expect(await end(db, open, { sure: false })).toMatchObject({ left: 2, verifies: false })
  expect(await end(db, { ...open, change_version: 4, suspect_version: 4 }, {})).toMatchObject({
    left: 2,
    verifies: false,
  })
  expect(await end(db, { ...open, verify_left: 0 }, { kind: 'unknown' })).toMatchObject({
    left: 2,
    owed: true,
  })
})

test('a write that was answered with neither yes nor no has no request under way: it waits for the lag alone', async () => {
  await using db = await freshDatabase()
  const waits = async (columns: Readonly<Record<string, unknown>>, given: Partial<Ending>) => {
    const row = await end(db, columns, { kind: 'unknown', unclear: true, lateMs: 5000, ...given })
    const { rows } = await db.pool.query(
      `SELECT unknown, round(extract(epoch FROM not_before - now()))::int AS "heldBack",
         round(extract(epoch FROM due_at - now()))::int AS due FROM rollcall.owed`,
    )
    return { left: row.left, verifies: row.verifies, ...rows[0] }
  }
  const soon = { unknown: true, left: 0, verifies: false, heldBack: 5, due: 5 }
  expect(await waits({}, {})).toEqual(soon)
  expect(await waits({ change_version: 4 }, {})).toEqual(soon)
  expect(await waits({}, { backoffMs: 9000 })).toEqual({ ...soon, due: 9 })
  // The end of its claim is 30 s away.
  expect(await waits({}, { unclear: false })).toMatchObject({ left: 2, heldBack: 30, due: 30 })
  // What follows an earlier unknown outcome stays.
  expect(await waits({ verify_left: 1, check_at: new Date() }, {})).toMatchObject({
    left: 1,
    verifies: true,
  })
})

test('a settle that takes such an answer for a yes asks for one look, and a verification for no other', async () => {
  await using db = await freshDatabase()
  const verifies = async (columns: Readonly<Record<string, unknown>>, given: Partial<Ending> = {}) => {
    const { left, verifies, owed } = await end(db, columns, { unclear: true, ...given })
    return [left, verifies, owed]
  }
  expect(await verifies({})).toEqual([1, true, false])
  expect(await verifies({ unknown: true })).toEqual([1, true, false])
  const look = { unknown: true, suspect_version: 3 }
  expect(await verifies({ ...look, synced_version: 2 })).toEqual([0, false, false])
  // A change came with it.
  expect(await verifies({ ...look, synced_version: 1 })).toEqual([1, true, false])
  expect(await verifies({ unknown: true, verify_left: 2 })).toEqual([2, true, false])
  expect(await verifies({}, { unclear: false })).toEqual([0, false, false])
  const { rows } = await db.pool.query('SELECT check_at FROM rollcall.owed')
  expect(rows).toEqual([{ check_at: null }])
})

test('a time to plan again that has passed under the claim stays, and one that the claim has seen does not', async () => {
  await using db = await freshDatabase()
  const { rows } = await db.pool.query('SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms')
  const now = rows[0].ms as number
  const claimedAtMs = now - 1000
  const left = async (kind: Ending['kind'], passedMs: number, replanAtMs: number | null) => {
    await end(db, { replan_at: new Date(passedMs) }, { kind, claimedAtMs, replanAtMs })
    const { rows } = await db.pool.query(
      'SELECT (extract(epoch FROM replan_at) * 1000)::float8 AS ms FROM rollcall.owed',
    )
    return rows[0].ms as number | null
  }
  const later = Math.round(now) + 3_600_000
  expect(await left('settle', Math.round(now) - 500, later)).toBe(Math.round(now) - 500)
  expect(await left('settle', Math.round(now) - 2000, later)).toBe(later)
  expect(await left('settle', later + 5, null)).toBeNull()
  // A claim that is tried again leaves what there is, unless it has found a time of its own.
  expect(await left('retry', later + 5, null)).toBe(later + 5)
  expect(await left('retry', later + 5, later)).toBe(later)
})

test('whoever is planned again is noted when its time has passed, and not under a claim', async () => {
  await using db = await freshDatabase()
  await db.pool.query(
    `INSERT INTO rollcall.owed (key, change_version, lane, replan_at, due_at, token) VALUES
       ('free', 3, 1, now() - interval '1 s', NULL, NULL),
       ('claimed', 3, 1, now() - interval '1 s', now() + interval '1 minute', 7),
       ('later', 3, 1, now() + interval '1 minute', NULL, NULL)`,
  )
  expect(await noteReplans(db.pool, 10)).toBe(1)
  const { rows } = await db.pool.query(
    `SELECT key FROM rollcall.owed WHERE change_version = 4 AND replan_at IS NULL AND due_at <= now()`,
  )
  expect(rows).toEqual([{ key: 'free' }])
})

test('a mapping without an end sets no time to look again, and one that has ended does not ask without a pause', async () => {
  await using db = await freshDatabase()
  const replan = async (replanAtMs: number | null) => {
    await end(db, {}, { replanAtMs })
    const { rows } = await db.pool.query(
      'SELECT (extract(epoch FROM replan_at - now()))::float8 AS s FROM rollcall.owed',
    )
    return rows[0].s as number | null
  }
  expect(await replan(null)).toBeNull()
  expect(await replan(Date.now() + 3_600_000)).toBeGreaterThan(3500)
  expect(await replan(Date.now() - 3_600_000)).toBeGreaterThan(0)
})

/** An open claim by token 7 on version 3 that ends in this way, and the row after it. */
async function ended(columns: Readonly<Record<string, unknown>>, given: Partial<Ending>) {
  await using db = await freshDatabase()
  await end(db, columns, given)
  const { rows } = await db.pool.query(
    `SELECT unknown, due_at IS NOT NULL AS owed, due_at > now() + interval '4 s' AS late,
       not_before > now() + interval '4 s' AS "heldBack"
     FROM rollcall.owed`,
  )
  return rows[0]
}

test('a change under the claim is owed after it, and without one nothing is', async () => {
  expect(await ended({}, {})).toMatchObject({ owed: false })
  expect(await ended({ change_version: 4 }, {})).toMatchObject({ owed: true, late: false })
})

test('an outcome that was unknown is known again only after a trusted answer', async () => {
  expect(await ended({ unknown: true }, { sure: true })).toMatchObject({ unknown: false })
  expect(await ended({ unknown: true }, { sure: false })).toMatchObject({ unknown: true })
})

test('after an unknown outcome nobody claims before the request can no longer arrive', async () => {
  expect(await ended({}, { kind: 'unknown' })).toMatchObject({
    unknown: true,
    heldBack: true,
    late: true,
  })
})

test('an ending that comes too late changes nothing that a newer claim has, and what it sent makes suspect', async () => {
  await using db = await freshDatabase()
  const { rows } = await db.pool.query(
    `INSERT INTO rollcall.owed (key, lane, change_version, due_at, token, call_token)
     VALUES ('c', 1, 3, now() + interval '30 s', 8, 8) RETURNING id::text`,
  )
  const row = async () => {
    const found = await db.pool.query(
      `SELECT token::int, unknown, change_version::int AS version, suspect_version::int AS suspect FROM rollcall.owed`,
    )
    return found.rows[0]
  }
  const { suspect } = await row()
  expect(await makeEnd(db.pool)(ending(rows[0].id, { wrote: false }))).toBe(false)
  expect(await row()).toEqual({ token: 8, unknown: false, version: 3, suspect })
  expect(await makeEnd(db.pool)(ending(rows[0].id, { wrote: true }))).toBe(false)
  expect(await row()).toEqual({ token: 8, unknown: true, version: 4, suspect: 4 })
  expect((await db.pool.query('SELECT FROM rollcall.ledger')).rowCount).toBe(0)
})

test('the record has what was acknowledged last', async () => {
  await using db = await freshDatabase()
  const sent = async (digest: string) => {
    await end(db, {}, { record: { ...EMPTY, userId: 'u', sent: { email: digest } } })
    const { rows } = await db.pool.query('SELECT sent FROM rollcall.ledger')
    return rows
  }
  expect(await sent('first')).toEqual([{ sent: { email: 'first' } }])
  expect(await sent('second')).toEqual([{ sent: { email: 'second' } }])
})
