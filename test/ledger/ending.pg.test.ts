import { beforeEach, expect, test } from 'vitest'
import type { Ending } from '../../src/ledger/ending.ts'
import { makeStoreEnding } from '../../src/ledger/ending.ts'
import { noteReplans } from '../../src/ledger/note-unchanged.ts'
import { freshDatabase } from '../support/database.ts'
import { EMPTY_RECORD, endingOf } from '../support/ending.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())
beforeEach(() => db.sql('TRUNCATE rollcall.owed, rollcall.ledger'))

type Given = Parameters<typeof endingOf>[1]
type Columns = Readonly<Record<string, unknown>>

const closed: unknown[] = []
const onClosed = (finding: unknown) => void closed.push(finding)

/** Ends an open claim by token 7 on version 3, on a row with these columns, and tells what the row is then. `state`: of the record. */
async function end({ state = 'idle', ...columns }: Columns, given: Given = {}) {
  const values = { change_version: 3, lane: 1, token: 7, call_token: 7, ...columns }
  const names = Object.keys(values)
  await db.sql('TRUNCATE rollcall.owed, rollcall.ledger')
  await db.sql(`INSERT INTO rollcall.ledger (key, user_id, state) VALUES ('c', 'u', $1)`, [state])
  const { rows: made } = await db.sql(
    `INSERT INTO rollcall.owed (key, due_at, ${names.join(', ')})
     VALUES ('c', now() + interval '30 s', ${names.map((_, i) => `$${i + 1}`).join(', ')}) RETURNING id::text`,
    Object.values(values),
  )
  expect(await makeStoreEnding(db.pool, 0, onClosed)(endingOf(made[0].id, given))).toBe(true)
  const { rows } = await db.sql(
    `SELECT unknown, status_unknown AS marked, verify_left AS left, verify_at IS NOT NULL AS verifies,
       due_at IS NOT NULL AS owed, due_at > now() + interval '2 s' AS late,
       not_before > now() + interval '2 s' AS "heldBack" FROM rollcall.owed`,
  )
  return rows[0]
}

const SUSPECT = { change_version: 4, suspect_version: 4 }
const MARKED = { status_unknown: true }
const UNASKED = { lastAnswer: null }
const UNSURE = { ...UNASKED, record: { ...EMPTY_RECORD, userId: 'u', state: 'rejected' } } as const
const RETRY = { kind: 'retry', failed: true } as const
const KNOWN = { ...RETRY, statusKnown: true } as const
/** An unknown outcome after which two lookups are to come. */
const OPEN = { unknown: true, verify_left: 2 }
const UNCLEAR = { unclear: true }
const VERIFYING = { unknown: true, suspect_version: 3 }

test.each<[string, Columns, Given, object]>([
  ['a settle leaves nothing owed', {}, {}, { owed: false }],
  ['a change under the claim is owed after it', { change_version: 4 }, {}, { owed: true, late: false }],
  ['an unknown outcome ends with a trusted answer', { unknown: true }, {}, { unknown: false }],
  ['and with no other', { unknown: true }, UNSURE, { unknown: true }],
  [
    'after an unknown outcome no worker claims before the request can no longer arrive',
    {},
    { kind: 'unknown' },
    { unknown: true, heldBack: true, late: true },
  ],
  ['an unknown status ends with a trusted answer', MARKED, {}, { marked: false }],
  ['and with no other', MARKED, UNSURE, { marked: true }],
  ['nor where the row became suspect after the claim', { ...MARKED, ...SUSPECT }, {}, { marked: true }],
  ['a suspicion that comes under a claim makes nothing unknown', SUSPECT, {}, { marked: false }],
  ['an attempt that may have been carried out leaves the mark', MARKED, RETRY, { marked: true }],
  ['one that was not removes its own mark', MARKED, KNOWN, { marked: false }],
  ['and no later one', { ...MARKED, ...SUSPECT }, KNOWN, { marked: true }],
  ['who clears an unknown outcome up sets the next lookup', OPEN, {}, { left: 2, verifies: true }],
  ['also the last one', { ...OPEN, verify_left: 1 }, {}, { left: 1, verifies: true }],
  ['where none is to come it sets none', { ...OPEN, verify_left: 0 }, {}, { left: 0, verifies: false }],
  ['nor where nothing was unknown', { ...OPEN, unknown: false }, {}, { left: 2, verifies: false }],
  ['nor without a trusted answer', OPEN, UNSURE, { left: 2, verifies: false }],
  [
    'nor where another customer has the user, who was made suspect',
    OPEN,
    UNASKED,
    { left: 0, verifies: false },
  ],
  ['nor keeps the time of one', { ...OPEN, verify_at: new Date() }, UNASKED, { left: 0, verifies: false }],
  ['nor where the row became suspect', { ...OPEN, ...SUSPECT }, {}, { left: 2, verifies: false }],
  ['an unknown outcome asks for two', { unknown: true }, { kind: 'unknown' }, { left: 2, owed: true }],
  ['an unclear answer that is taken for a yes asks for one', {}, UNCLEAR, { left: 1, verifies: true }],
  ['also after an unknown outcome', { unknown: true }, UNCLEAR, { left: 1, verifies: true, owed: false }],
  ['a verification asks for no other', { ...VERIFYING, synced_version: 2 }, UNCLEAR, { left: 0 }],
  ['unless a change came with it', { ...VERIFYING, synced_version: 1 }, UNCLEAR, { left: 1, verifies: true }],
  [
    'or the customer has changed before its note',
    { ...VERIFYING, synced_version: 2 },
    { ...UNCLEAR, desiredDigest: 'other' },
    { left: 1, verifies: true },
  ],
  [
    'or an attempt before it has failed',
    { ...VERIFYING, synced_version: 2, state: 'failing' },
    UNCLEAR,
    { left: 1, verifies: true },
  ],
  ['and takes none away', OPEN, UNCLEAR, { left: 2, verifies: true }],
])('%s: %j, %j', async (_, columns, given, row) => expect(await end(columns, given)).toMatchObject(row))

test('a write that was answered with neither yes nor no has no request under way: it waits for the lag alone', async () => {
  const waits = async (columns: Columns, given: Given) => {
    const row = await end(columns, { kind: 'unknown', unclear: true, lateMs: 5000, ...given })
    const { rows } = await db.sql(
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
  expect(await waits({ verify_left: 1, verify_at: new Date() }, {})).toMatchObject({
    left: 1,
    verifies: true,
  })
})

test('a time to plan again that has passed under the claim stays, and one that the claim has seen does not', async () => {
  const { rows } = await db.sql('SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms')
  const now = rows[0].ms as number
  const claim = { nowMs: now - 1000 }
  const left = async (kind: Ending['kind'], passedMs: number, replanAtMs: number | null) => {
    await end({ replan_at: new Date(passedMs) }, { kind, claim, replanAtMs })
    const { rows } = await db.sql(
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

test('a customer that is planned again is noted when its time has passed, and not under a claim', async () => {
  await db.sql(
    `INSERT INTO rollcall.owed (key, change_version, lane, replan_at, due_at, token) VALUES
       ('free', 3, 1, now() - interval '1 s', NULL, NULL),
       ('claimed', 3, 1, now() - interval '1 s', now() + interval '1 minute', 7),
       ('later', 3, 1, now() + interval '1 minute', NULL, NULL)`,
  )
  expect(await noteReplans(db.pool, 10)).toBe(1)
  const { rows } = await db.sql(
    `SELECT key FROM rollcall.owed WHERE change_version = 4 AND replan_at IS NULL AND due_at <= now()`,
  )
  expect(rows).toEqual([{ key: 'free' }])
})

test('a mapping without an end sets no time to plan again, and one that has ended does not ask without a pause', async () => {
  const replan = async (replanAtMs: number | null) => {
    await end({}, { replanAtMs })
    const { rows } = await db.sql(
      'SELECT (extract(epoch FROM replan_at - now()))::float8 AS s FROM rollcall.owed',
    )
    return rows[0].s as number | null
  }
  expect(await replan(null)).toBeNull()
  expect(await replan(Date.now() + 3_600_000)).toBeGreaterThan(3500)
  expect(await replan(Date.now() - 3_600_000)).toBeGreaterThan(0)
})

test('an ending that comes too late changes nothing that a newer claim has, and what it sent makes suspect', async () => {
  const { rows } = await db.sql(
    `INSERT INTO rollcall.owed (key, lane, change_version, due_at, token, call_token)
     VALUES ('c', 1, 3, now() + interval '30 s', 8, 8) RETURNING id::text`,
  )
  const columns = 'token::int, unknown, change_version::int AS version, suspect_version::int AS suspect'
  const row = async () => (await db.sql(`SELECT ${columns} FROM rollcall.owed`)).rows[0]
  const { suspect } = await row()
  expect(await makeStoreEnding(db.pool, 0)(endingOf(rows[0].id, { writes: 'none' }))).toBe(false)
  expect(await row()).toEqual({ token: 8, unknown: false, version: 3, suspect })
  expect(await makeStoreEnding(db.pool, 0)(endingOf(rows[0].id, { writes: 'refused' }))).toBe(false)
  expect(await row()).toEqual({ token: 8, unknown: true, version: 4, suspect: 4 })
  expect((await db.sql('SELECT FROM rollcall.ledger')).rowCount).toBe(0)
})

test('a settle says which finding it closes', async () => {
  for (const checks of [1, 2]) {
    await db.sql(
      `INSERT INTO rollcall.finding (key, kind, fields, checks) VALUES ('c', 'differs', '{email}', $1)`,
      [checks],
    )
    for (const acknowledged of [['status'], ['email'], ['email']] as const)
      await end({}, { acknowledged, writes: 'accepted' })
  }
  expect(closed).toEqual([{ customer: 'c', finding: expect.any(String), how: 'repaired' }])
})

test('the record has what was acknowledged last', async () => {
  const sent = async (digest: string) => {
    await end({}, { record: { ...EMPTY_RECORD, userId: 'u', sent: { email: digest } } })
    return (await db.sql('SELECT sent FROM rollcall.ledger')).rows
  }
  expect(await sent('first')).toEqual([{ sent: { email: 'first' } }])
  expect(await sent('second')).toEqual([{ sent: { email: 'second' } }])
})

test('a customer counts as verified when a GET showed all that is desired and nothing was written', async () => {
  const verified = async (given: Given) => {
    await db.sql('TRUNCATE rollcall.ledger')
    await end({}, given)
    return (await db.sql('SELECT verified_at = proved_at IS TRUE AS both FROM rollcall.ledger')).rows[0].both
  }
  expect(await verified({ getMade: true })).toBe(true)
  expect(await verified({})).toBe(false)
  expect(await verified({ getMade: true, writes: 'accepted' })).toBe(false)
  expect(await verified({ getMade: true, kind: 'retry' })).toBe(false)
  expect(await verified({ ...UNSURE, getMade: true })).toBe(false)
})

test('a deadlock after the endings are stored makes none of them again, as if it were late', async () => {
  const { rows } = await db.pool.query<{ id: string }>(
    `INSERT INTO rollcall.owed (key, change_version, lane, due_at, token, call_token)
     VALUES ('c', 3, 1, now(), 7, 7), ('late', 3, 1, now(), 8, 8) RETURNING id::text`,
  )
  let deadlocks = 3
  const query = async (text: string, values: unknown[]) => {
    if (text.includes('suspect_version = o.change_version + 1') && deadlocks-- > 0)
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    return await db.pool.query(text, values)
  }
  const store = makeStoreEnding(Object.assign(Object.create(db.pool), { query }), 0)
  const [id = '', late = ''] = rows.map((row) => row.id)
  const ends = [
    store(endingOf(id, { writes: 'accepted' })),
    store(endingOf(late, { writes: 'accepted', claim: { key: 'late', token: '9' } })),
  ]
  expect((await Promise.allSettled(ends)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const { rows: after } = await db.pool.query(`SELECT unknown, token FROM rollcall.owed WHERE key = 'c'`)
  expect(after).toEqual([{ unknown: false, token: null }])
})

test.each([
  ['discarded', 'none', 'status', true],
  ['discarded', 'none', 'clear:email', false],
  ['held', 'accepted', 'status', true],
  ['held', 'accepted', 'clear:email', false],
  ['held', 'none', 'status', false],
] as const)(
  'a %s customer (writes: %s) has used up a release of %s: %s',
  async (state, writes, kind, spent) => {
    await db.sql(`INSERT INTO rollcall.decision (id, action, by, why) VALUES (1, 'release', 'test', 'test')
    ON CONFLICT DO NOTHING; DELETE FROM rollcall.decided`)
    await db.sql(`INSERT INTO rollcall.decided (decision, key, desired, kinds) VALUES (1, 'c', 'd', $1)`, [
      JSON.stringify([kind]),
    ])
    const reason = { code: 'held', kinds: ['clear:email'] } as const
    const record = { ...EMPTY_RECORD, userId: 'u', state, reason }
    await end({ state: 'held' }, { desiredDigest: 'd', record, writes })
    const { rows } = await db.sql('SELECT spent_at IS NOT NULL AS spent FROM rollcall.decided')
    expect(rows).toEqual([{ spent }])
  },
)
