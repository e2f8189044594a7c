// A customer that a run has found to differ is owed a repair, with real tables and a service.

import { expect, test } from 'vitest'
import { repairFound } from '../../src/drift/repair.ts'
import { noteLookup } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { named, settledHouse, settleOnce } from '../support/settled-house.ts'
import { checksAreDue, openVerifier, LANE as QUEUE } from './scene.ts'

test('owed once, and only where it differs still and nothing else is under way', async () => {
  const keys = ['found', 'held', 'over', 'owed', 'twice']
  await using house = await settledHouse(QUEUE, named(keys))
  const { pool } = house.db
  for (const key of keys) house.sandbox.users.edit(key, { first_name: 'Eva' })
  await using verifier = await openVerifier(house)
  const { rows } = await pool.query<{ now: string }>('SELECT clock_timestamp()::text AS now')
  const startedAt = rows[0]?.now ?? ''
  await verifier.checkKeys(keys)
  await checksAreDue(house)
  const found = Object.values(await verifier.checkKeys(keys)).flatMap(({ findingId }) => findingId ?? [])
  expect(found).toHaveLength(5)
  house.sandbox.users.edit('over', { first_name: 'Ana' })
  await verifier.checkKeys(['over'])
  await noteLookup(pool, ['owed'], LANE.repair)
  await pool.query(`UPDATE rollcall.owed SET token = 1 WHERE key = 'owed'`)
  const lag = house.config.timing
  const brake = async ({ key }: { key: string }) => (key === 'held' ? (['repair'] as const) : [])
  expect(await repairFound({ pool, brake, lag }, found, startedAt)).toEqual({
    ...{ owed: ['found', 'twice'], held: ['held'] },
  })
  const due = await pool.query(
    'SELECT key FROM rollcall.owed WHERE due_at IS NOT NULL AND token IS NULL ORDER BY key',
  )
  expect(due.rows.map(({ key }) => key)).toEqual(['found', 'twice'])
  // Asked once more, as by the same command that goes on.
  expect((await repairFound({ pool, brake, lag }, found, startedAt)).owed).toEqual(['found', 'twice'])
  const again = await pool.query(`SELECT repairs FROM rollcall.finding WHERE key = 'found'`)
  expect(again.rows).toEqual([{ repairs: 1 }])
})

test('a customer that was never synced is found, and left to a backfill', async () => {
  await using house = await settledHouse(QUEUE, named(['a', 'b', 'c']))
  await house.sql(
    `ALTER TABLE clientes DISABLE TRIGGER ALL; INSERT INTO clientes (id, plan) VALUES ('new', 'premium')`,
  )
  await using verifier = await openVerifier(house, { repair: true })
  await verifier.checkKeys(['new'])
  await checksAreDue(house)
  expect((await verifier.checkKeys(['new'])).new).toMatchObject({ findingState: 'found', repairing: false })
})

test('an error before a repair is owed loses no repair: the next check of a worker comes soon', async () => {
  const config = { reconcile: { period: false, mode: 'repair' } } as const
  await using house = await settledHouse(QUEUE, named(['a']), { config })
  house.sandbox.users.edit('a', { first_name: 'Eva' })
  let isBusy = true
  const brake = async () => {
    if (isBusy) throw new Error('the brake is busy')
    return []
  }
  await using verifier = await openVerifier(house, { repair: true, brake })
  await verifier.checkKeys(['a'])
  await checksAreDue(house)
  await expect(verifier.checkKeys(['a'])).rejects.toThrow('the brake is busy')
  expect(
    (await house.sql('SELECT checks FROM rollcall.finding WHERE next_check_at IS NOT NULL')).rows,
  ).toEqual([{ checks: 2 }])
  isBusy = false
  await checksAreDue(house)
  expect((await verifier.checkKeys(['a'])).a).toMatchObject({ findingState: 'found', repairing: true })
})

test('a customer that is synced before the brake answers is not held for the repair', async () => {
  await using house = await settledHouse(QUEUE, named(['a', 'b']))
  const { pool } = house.db
  for (const key of ['a', 'b']) house.sandbox.users.edit(key, { first_name: 'Eva' })
  await using verifier = await openVerifier(house)
  await verifier.checkKeys(['a', 'b'])
  await checksAreDue(house)
  const found = Object.values(await verifier.checkKeys(['a', 'b'])).flatMap(
    ({ findingId }) => findingId ?? [],
  )
  const brake = async ({ key }: { key: string }) => {
    if (key === 'a') {
      await house.sql(`UPDATE clientes SET nombre = 'Lea' WHERE id = 'a'`)
      await settleOnce(house)
    }
    return ['repair'] as const
  }
  const lag = house.config.timing
  expect(await repairFound({ pool, brake, lag }, found, new Date().toISOString())).toEqual({
    owed: [],
    held: ['b'],
  })
  const { rows } = await house.sql('SELECT key, state FROM rollcall.ledger ORDER BY key')
  expect(rows).toEqual([
    { key: 'a', state: 'idle' },
    { key: 'b', state: 'held' },
  ])
})
