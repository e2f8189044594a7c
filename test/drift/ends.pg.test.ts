// How findings end of customers that are not checked any more; with real tables and a service.

import { expect, test } from 'vitest'
import { dueChecks } from '../../src/drift/open-findings.ts'
import { applyGeneration } from '../../src/ledger/generation.ts'
import { noteLookup } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { named, settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'
import { checksAreDue, openVerifier, LANE as QUEUE, storedFindings } from './scene.ts'

test('what was found of a customer that is rejected or discarded now ends without a call; who is held waits', async () => {
  const keys = ['discarded', 'held', 'owed', 'rejected']
  await using house = await settledHouse(QUEUE, named(keys))
  for (const key of keys) house.sandbox.users.edit(key, { first_name: 'Eva' })
  await using verifier = await openVerifier(house)
  await verifier.checkKeys(keys)
  await checksAreDue(house)
  await verifier.checkKeys(keys)
  const due = async () => [...(await dueChecks(house.db.pool, 99))].sort()
  expect(await due()).toEqual([])

  await house.sql(
    `UPDATE rollcall.ledger SET state = CASE key WHEN 'owed' THEN 'rejected' ELSE key END WHERE key = ANY($1)`,
    [keys],
  )
  await noteLookup(house.db.pool, ['owed'], LANE.repair)
  await house.sql(`UPDATE rollcall.finding SET next_check_at = now() - interval '1 h' WHERE key = 'held'`)
  const calls = verifier.calls.length
  expect(await due()).toEqual(['discarded', 'owed', 'rejected'])
  await verifier.checkKeys(await due())
  expect(verifier.calls.length).toBe(calls)
  expect((await storedFindings(house)).map(({ key, how }) => [key, how])).toEqual([
    ['discarded', 'accepted'],
    ['held', null],
    ['owed', null],
    ['rejected', 'by-a-change'],
  ])
  // A customer without a verdict yet is not due again at once.
  expect(await due()).toEqual([])
})

test('what a settle or another mapping may have changed of a finding is checked again', async () => {
  await using house = await settledHouse(QUEUE, named(['a']))
  const { pool } = house.db
  house.sandbox.users.edit('a', { status: 0, first_name: 'Eva' })
  await using verifier = await openVerifier(house)
  const checkAgain = async () => {
    await checksAreDue(house)
    expect(await dueChecks(pool, 99)).toEqual(['a'])
    await verifier.checkKeys(['a'])
    return (await pool.query('SELECT fields, access, resolved_how AS how FROM rollcall.finding')).rows
  }
  await verifier.checkKeys(['a'])
  expect(await checkAgain()).toEqual([{ fields: ['status', 'first_name'], access: 'lost', how: null }])
  expect(await dueChecks(pool, 99)).toEqual([])

  const worker = await house.startWorker()
  await pool.query(`UPDATE clientes SET apellidos = 'Gil'`)
  await until(() => house.sandbox.users.get('a')?.status === 2, { what: 'access' })
  await house.settled()
  await worker.stop()
  expect(await checkAgain()).toEqual([{ fields: ['first_name'], access: null, how: null }])

  await applyGeneration(pool, 'another')
  expect(await dueChecks(pool, 99)).toEqual(['a'])
})
