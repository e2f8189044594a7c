// When nothing is said: what is owed, under way or just written, and whatever moves while the GET is under way.
import { expect, test } from 'vitest'
import { drainOutbox } from '../../src/capture/outbox.ts'
import { makeNoting } from '../../src/ledger/note.ts'
import { userIdFor } from '../../src/sync/map.ts'
import { buildHouse, timed } from '../support/house.ts'
import { settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'
import { behindCapture, LANE, openVerifier, storedFindings } from './scene.ts'

const TWO = `INSERT INTO clientes (id, plan, nombre) VALUES ('a', 'premium', 'Ana'), ('b', 'premium', 'Bea')`

test('a change that comes while the GET is under way makes what it shows worth nothing, noted or only captured', async () => {
  // The GET takes longer than the change.
  const config = { service: { timeoutMs: 8000 }, ...timed({ lifetimeMs: 20_000 }) }
  await using house = await settledHouse(LANE, TWO, { config })
  await using verifier = await openVerifier(house)
  house.sandbox.users.edit('a', { first_name: 'Eva' })
  house.sandbox.faults.set([
    { match: { method: 'GET' }, action: { kind: 'latency', minMs: 2000, maxMs: 2000 } },
  ])
  const checking = verifier.checkKeys(['a'])
  await until(() => house.sandbox.journal.list({ userId: 'a' }).some(({ method }) => method === 'GET'))
  await house.sql(`UPDATE clientes SET nombre = 'Eva' WHERE id = 'a'`)
  expect((await checking).a?.verdict).toEqual({ kind: 'skipped', why: 'owed' })
  expect(await storedFindings(house)).toEqual([])
  const noted = verifier.checkKeys(['b'])
  await until(() => house.sandbox.journal.list({ userId: 'b' }).some(({ method }) => method === 'GET'))
  await house.sql(`UPDATE clientes SET nombre = 'Bo' WHERE id = 'b'`)
  await drainOutbox(
    house.db.pool,
    makeNoting((key) => userIdFor(house.config, key)),
    10,
  )
  expect((await noted).b?.verdict).toEqual({ kind: 'skipped', why: 'changed' })
  // Captured before the row was read, and not noted yet: the row is newer than the version.
  house.sandbox.faults.set([])
  await house.sql(`UPDATE clientes SET nombre = 'Bibi' WHERE id = 'b'`)
  expect((await verifier.checkKeys(['b'])).b?.verdict).toEqual({ kind: 'skipped', why: 'owed' })
  expect(await storedFindings(house)).toEqual([])
})

test('what was written a moment ago is not checked, nor checked twice sooner than the service may lag', async () => {
  const config = timed({ consistencyDelayMs: 1500, lifetimeMs: 5000 })
  await using house = await buildHouse(LANE, { contract: { visibleAfterMs: 1200 }, config })
  await house.startWorker()
  await house.settle(TWO)
  await using verifier = await openVerifier(house)
  const first = await verifier.checkKeys(['a', 'b'])
  expect(Object.values(first).map(({ verdict }) => verdict)).toEqual([
    { kind: 'skipped', why: 'just-written' },
    { kind: 'skipped', why: 'just-written' },
  ])
  expect(house.calls().filter(({ method }) => method === 'GET')).toEqual([])
  await until(async () => (await verifier.checkKeys(['a', 'b'])).a?.verdict.kind === 'agrees')
  house.sandbox.users.edit('a', { first_name: 'Eva' })
  expect((await verifier.checkKeys(['a'])).a?.findingState).toBe('suspected')
  await house.sql(`UPDATE rollcall.ledger SET checked_at = NULL WHERE key = 'a'`)
  expect((await verifier.checkKeys(['a'])).a?.findingState).toBe('suspected')
  expect(await storedFindings(house)).toMatchObject([{ checks: 1 }])
  // There was an answer all the same: a scheduled run asks no more.
  const asked = `SELECT FROM rollcall.ledger WHERE key = 'a' AND checked_at IS NOT NULL`
  expect((await house.sql(asked)).rowCount).toBe(1)
  await until(async () => (await verifier.checkKeys(['a'])).a?.findingState === 'found')
})

test('the cause is what the records tell: a call of unknown outcome, another mapping', async () => {
  await using house = await buildHouse(LANE)
  await house.startWorker()
  await house.settle(TWO)
  // A request without an answer that arrives late, after everything was set right.
  house.sandbox.faults.set([
    { match: { method: 'PATCH', userId: 'a' }, times: 1, action: { kind: 'hang-after' } },
  ])
  await house.sql(`UPDATE clientes SET nombre = 'Eva' WHERE id = 'a'`)
  await until(async () => {
    const { rows } = await house.sql(`SELECT FROM rollcall.call WHERE key = 'a' AND meaning = 'unknown'`)
    return rows.length > 0
  })
  await house.settle(`UPDATE clientes SET nombre = 'Ada' WHERE id = 'a'`)
  await house.sql(`UPDATE rollcall.owed SET verify_left = 0, verify_at = NULL WHERE key = 'a'`)
  house.sandbox.users.edit('a', { first_name: 'Eva' })
  await behindCapture(house, `UPDATE clientes SET nombre = 'Bibi' WHERE id = 'b'`)
  await house.sql(`INSERT INTO rollcall.generation (id, fingerprint, swept_at)
    SELECT max(id) + 1, (array_agg(fingerprint ORDER BY id DESC))[1], now() FROM rollcall.generation`)
  await using verifier = await openVerifier(house)
  const checked = await verifier.checkKeys(['a', 'b'])
  const differs = { kind: 'differs', fields: ['first_name'], access: null }
  expect(checked.a?.verdict).toEqual({ ...differs, cause: 'unknown-outcome' })
  expect(checked.b?.verdict).toEqual({ ...differs, cause: 'mapping-changed' })
})

test('under another mapping than syncs go by no customer is checked; a stop leaves out who was not', async () => {
  await using house = await settledHouse(LANE, TWO)
  await using verifier = await openVerifier(house)
  const before = house.calls().length
  expect(await verifier.check(['a', 'b'], AbortSignal.abort())).toEqual({ checked: [], stopped: 'asked' })
  await house.sql(
    `INSERT INTO rollcall.generation (id, fingerprint) SELECT max(id) + 1, 'another' FROM rollcall.generation`,
  )
  expect(await verifier.check(['a', 'b'])).toEqual({ checked: [], stopped: 'mapping' })
  expect(house.calls()).toHaveLength(before)
})

test('while another process holds the row nothing is said, and no customer waits for long', async () => {
  await using house = await settledHouse(LANE, TWO)
  await using verifier = await openVerifier(house)
  house.sandbox.users.edit('a', { first_name: 'Eva' })
  await using holder = await house.db.session()
  await holder.query(`BEGIN; SELECT FROM rollcall.owed WHERE key = 'a' FOR UPDATE`)
  expect((await verifier.checkKeys(['a'])).a?.verdict).toEqual({ kind: 'skipped', why: 'changed' })
  await holder.query('ROLLBACK')
  expect((await verifier.checkKeys(['a'])).a?.findingState).toBe('suspected')
})
