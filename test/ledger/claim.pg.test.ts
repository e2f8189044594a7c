// From a note over a lease to a claim: which process may call the service for a customer, and when no process may.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { makeClaim } from '../../src/ledger/claim.ts'
import { makeStoreEnding } from '../../src/ledger/ending.ts'
import { applyGeneration, bindGeneration } from '../../src/ledger/generation.ts'
import { type Lease, leaseKey, leaseLane, unlease } from '../../src/ledger/lease.ts'
import { note } from '../../src/ledger/note.ts'
import { makeReadRecordsOf, readUserRecords } from '../../src/ledger/record.ts'
import { bindTarget } from '../../src/ledger/target.ts'
import { endDiscard } from '../../src/ledger/traces.ts'
import { LANE, type Lane } from '../../src/model/customer.ts'
import { freshDatabase } from '../support/database.ts'
import { EMPTY_RECORD, endingOf } from '../support/ending.ts'
import { ofFile } from '../support/of-file.ts'

const TARGET = { origin: 'https://service.example', apiKey: 'a', digestKey: 'd'.repeat(32) }

const db = ofFile(() => freshDatabase())
let binding: string
beforeAll(async () => {
  binding = await bindTarget(db.pool, TARGET)
  await bindGeneration(db.pool, 'mine')
})
beforeEach(async () => {
  await db.sql('DELETE FROM rollcall.owed')
  await change()
})

const change = (lane: Lane = LANE.change) => note(db.pool, [{ key: 'c', lane, at: new Date() }])
const claimer = (changes: { binding?: string; fingerprint?: string } = {}) =>
  makeClaim(db.pool, { lastsMs: 5000, binding, fingerprint: 'mine', ...changes })

async function leased(): Promise<Lease> {
  const lease = await leaseKey(db.pool, 'c', 5000)
  if (!lease) throw new Error('it is not due')
  return lease
}

async function row() {
  const { rows } = await db.sql(
    `SELECT change_version::int AS version, lane, unknown, hidden_unknown, due_at <= now() AS due FROM rollcall.owed`,
  )
  return rows[0]
}

test('a job that is delivered twice is claimed once', async () => {
  const lease = await leased()
  const claimed = { key: 'c', version: '1', unknown: false, hiddenUnknown: false }
  expect(await claimer()(lease)).toMatchObject(claimed)
  expect(await claimer()(lease)).toBeNull()
})

test('only the process that has the claim ends a discard', async () => {
  const claim = await claimer()(await leased())
  if (!claim) throw new Error('it was claimed before')
  const stateAfter = async (state: string, discard: string | null, token = claim.token) => {
    await db.sql('DELETE FROM rollcall.ledger')
    await db.sql(`INSERT INTO rollcall.ledger (key, state, discard) VALUES ('c', $1, $2)`, [state, discard])
    await endDiscard(db.pool, { ...claim, token })
    return (await db.sql('SELECT state, discard FROM rollcall.ledger')).rows
  }
  const discard = { kinds: ['revocation'], desired: 'd' }
  const stored = JSON.stringify(discard)
  expect(await stateAfter('discarded', stored, `${BigInt(claim.token) + 1n}`)).toEqual([
    { state: 'discarded', discard },
  ])
  for (const state of ['discarded', 'held'])
    expect(await stateAfter(state, stored)).toEqual([{ state: 'failing', discard: null }])
  expect(await stateAfter('held', null)).toEqual([{ state: 'held', discard: null }])
  await db.sql('DELETE FROM rollcall.ledger')
})

test('however often it is leased and taken back, it is due since its change', async () => {
  await db.sql(`UPDATE rollcall.owed SET changed_at = now() - interval '1 hour'`)
  for (const _ of [1, 2]) await unlease(db.pool, [await leased()])
  const { rows } = await db.sql('SELECT due_at = changed_at AS same FROM rollcall.owed')
  expect(rows).toEqual([{ same: true }])
})

test('a newer lease makes the jobs before it void', async () => {
  const older = await leased()
  await db.sql('UPDATE rollcall.owed SET due_at = now()')
  const newer = await leased()
  expect(await claimer()(older)).toBeNull()
  expect(await claimer()(newer)).not.toBeNull()
})

test('a lease that has run out is claimed by no process', async () => {
  const lease = await leased()
  await db.sql(`UPDATE rollcall.owed SET due_at = now() - interval '1 ms'`)
  expect(await claimer()(lease)).toBeNull()
})

test('no process claims while a late request may still arrive', async () => {
  const lease = await leased()
  await db.sql(`UPDATE rollcall.owed SET not_before = now() + interval '1 minute'`)
  expect(await claimer()(lease)).toBeNull()
  await db.sql('UPDATE rollcall.owed SET not_before = now()')
  expect(await claimer()(lease)).not.toBeNull()
})

test('a process that goes by another target or another mapping claims nothing', async () => {
  const lease = await leased()
  expect(await claimer({ binding: '1' })(lease)).toBeNull()
  expect(await claimer({ fingerprint: 'other' })(lease)).toBeNull()
  await applyGeneration(db.pool, 'other')
  expect(await claimer()(lease)).toBeNull()
  expect(await claimer({ fingerprint: 'other' })(lease)).toMatchObject({ generation: '2' })
  await applyGeneration(db.pool, 'mine')
})

test('a claim that was never ended leaves its outcome unknown, and the field that no GET shows', async () => {
  await claimer()(await leased())
  await db.sql('UPDATE rollcall.owed SET due_at = now()')
  await leased()
  expect(await row()).toMatchObject({ unknown: true, hidden_unknown: true })
})

test('a lease that was never claimed leaves nothing unknown', async () => {
  await leased()
  await db.sql('UPDATE rollcall.owed SET due_at = now()')
  await leased()
  expect(await row()).toMatchObject({ unknown: false, hidden_unknown: false })
})

test('a change raises the version and takes the more urgent lane', async () => {
  await change(LANE.repair)
  expect(await row()).toMatchObject({ version: 2, lane: LANE.change, due: true })
})

test('a change makes no customer due whose job is out, and its claim sees it', async () => {
  const lease = await leased()
  await change()
  expect(await row()).toMatchObject({ version: 2, due: false })
  expect(await claimer()(lease)).toMatchObject({ version: '2' })
})

test('the statements of a claim find their customers by index, also before there are statistics', async () => {
  const { pool } = db
  const all = `SELECT 'k' || i, 'u' || i FROM generate_series(1, 5000) i`
  await pool.query(`INSERT INTO rollcall.ledger (key, user_id) ${all};
    INSERT INTO rollcall.owed (key, change_version, lane, due_at) SELECT key, 1, 0, now() FROM rollcall.ledger`)
  const read = async () => {
    await pool.query('SELECT pg_stat_force_next_flush()')
    const counts = `SELECT sum(seq_tup_read)::int AS rows FROM pg_stat_user_tables WHERE relname IN ('owed', 'ledger')`
    return (await pool.query(counts)).rows[0].rows
  }
  const before = await read()
  const leases = await leaseLane(pool, { lane: LANE.deletion, leaseMs: 5000, limit: 20 })
  const claims = (await Promise.all(leases.map(claimer()))).flatMap((claim) => claim ?? [])
  const users = claims.map(({ key }) => key.replace('k', 'u'))
  expect((await readUserRecords(pool, users)).size).toBe(20)
  expect((await Promise.all(users.map(makeReadRecordsOf(pool)))).flat()).toHaveLength(20)
  const end = makeStoreEnding(pool, 0)
  const ended = claims.map((claim, i) => {
    const record = { ...EMPTY_RECORD, userId: users[i] ?? null }
    return end(endingOf(claim.id, { claim, record, others: { isNewUser: true, effect: 'known' } }))
  })
  expect(new Set(await Promise.all(ended))).toEqual(new Set([true]))
  expect(await read()).toBe(before)
})
