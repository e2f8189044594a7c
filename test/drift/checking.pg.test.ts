import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countOpen, readOpenFound } from '../../src/drift/found.ts'
import { dueChecks } from '../../src/drift/open-findings.ts'
import type { CheckVerdict } from '../../src/drift/words.ts'
import { noteLookup } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { buildHouse, type House, PATIENT } from '../support/house.ts'
import { behindCapture, openVerifier, LANE as QUEUE, storedFindings, type Verifier } from './scene.ts'

const SAYS: Readonly<Record<string, CheckVerdict>> = {
  same: { kind: 'agrees' },
  spelled: { kind: 'agrees' },
  country: { kind: 'agrees' },
  renamed: { kind: 'differs', fields: ['first_name'], cause: 'edited-at-service', access: null },
  emptied: { kind: 'differs', fields: ['email', 'first_name'], cause: 'edited-at-service', access: null },
  shut: { kind: 'differs', fields: ['status'], cause: 'edited-at-service', access: 'lost' },
  open: { kind: 'differs', fields: ['status'], cause: 'edited-at-service', access: 'undue' },
  lesser: { kind: 'differs', fields: ['status'], cause: 'edited-at-service', access: null },
  gone: { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' },
  left: { kind: 'unexpected-access', fields: [], cause: 'edited-at-service', access: 'undue' },
  trial: { kind: 'trial-ended', fields: ['status'], cause: null, access: null },
  missed: { kind: 'differs', fields: ['first_name'], cause: 'never-delivered', access: null },
  unheard: { kind: 'missing', fields: [], cause: 'never-delivered', access: 'lost' },
  lapsed: { kind: 'unexpected-access', fields: [], cause: 'never-delivered', access: 'undue' },
}
const KEYS = Object.keys(SAYS)
const DRIFT = KEYS.filter((key) => SAYS[key]?.kind !== 'agrees')

describe('customers whose users were changed at the service', () => {
  let house: House
  let verifier: Verifier
  beforeAll(async () => {
    house = await buildHouse(QUEUE, { config: PATIENT })
    await house.startWorker()
    await house.settle(
      `INSERT INTO clientes (id, plan, correo, nombre, pais)
       SELECT k, CASE k WHEN 'trial' THEN 'trial' WHEN 'open' THEN 'free' ELSE 'premium' END, k || '@example.com', 'Ana', 'ES'
       FROM unnest($1::text[]) AS k WHERE k <> 'unheard'`,
      [KEYS],
    )
    await house.settle(`DELETE FROM clientes WHERE id = 'left'`)
    const { users } = house.sandbox
    users.edit('spelled', { email: 'SPELLED@Example.com' })
    users.edit('country', { country_code: 'FR' })
    users.edit('renamed', { first_name: 'Eva' })
    users.edit('emptied', { first_name: null, email: 'x@example.org' })
    users.edit('shut', { status: 0 })
    users.edit('open', { status: 2 })
    users.edit('lesser', { status: 4 })
    users.delete('gone')
    users.edit('left', { status: 2 })
    users.edit('trial', { status: 0 })
    await behindCapture(house, `UPDATE clientes SET nombre = 'Ada' WHERE id = 'missed'`)
    await behindCapture(house, `INSERT INTO clientes (id, plan) VALUES ('unheard', 'premium')`)
    await behindCapture(house, `DELETE FROM clientes WHERE id = 'lapsed'`)
    verifier = await openVerifier(house)
  })
  afterAll(async () => {
    await verifier[Symbol.asyncDispose]()
    await house[Symbol.asyncDispose]()
  })

  test('a first check suspects, and reports nothing', async () => {
    const checked = await verifier.checkKeys(KEYS)
    expect(Object.fromEntries(KEYS.map((key) => [key, checked[key]?.verdict]))).toEqual(SAYS)
    expect(DRIFT.map((key) => checked[key]?.findingState)).toEqual(DRIFT.map(() => 'suspected'))
    expect(await readOpenFound(house.db.pool)).toEqual([])
    expect(verifier.calls.map(({ plan, method }) => `${plan} ${method}`)).toEqual(KEYS.map(() => 'check GET'))
  })

  test('a second check finds each, with kind, fields and cause, and what is asked for are values', async () => {
    expect([...(await dueChecks(house.db.pool, 99))].sort()).toEqual([...DRIFT].sort())
    const checked = await verifier.checkKeys(DRIFT)
    expect(Object.fromEntries(DRIFT.map((key) => [key, checked[key]?.verdict]))).toEqual(
      Object.fromEntries(DRIFT.map((key) => [key, SAYS[key]])),
    )
    expect(DRIFT.map((key) => checked[key]?.findingState)).toEqual(DRIFT.map(() => 'found'))
    expect(checked.renamed?.shown).toEqual([{ field: 'first_name', here: 'Ana', service: 'Eva' }])
    const found = await readOpenFound(house.db.pool)
    expect(
      Object.fromEntries(
        found.map(({ key, kind, fields, cause, access }) => [key, { kind, fields, cause, access }]),
      ),
    ).toEqual(Object.fromEntries(DRIFT.map((key) => [key, SAYS[key]])))
    expect(await countOpen(house.db.pool)).toEqual([
      { kind: 'differs', access: 'lost', count: 1 },
      { kind: 'differs', access: 'undue', count: 1 },
      { kind: 'differs', access: null, count: 4 },
      { kind: 'missing', access: 'lost', count: 2 },
      { kind: 'trial-ended', access: null, count: 1 },
      { kind: 'unexpected-access', access: 'undue', count: 2 },
    ])
    expect(house.calls().filter(({ method }) => method !== 'GET').length).toBeGreaterThan(0)
  })

  test('an absence that only checks have shown is remembered nowhere', async () => {
    const { rows } = await house.sql(
      `SELECT key, remote, sent <> '{}' AS sent FROM rollcall.ledger WHERE key IN ('gone', 'same') ORDER BY key`,
    )
    expect(rows).toEqual([
      { key: 'gone', remote: 'present', sent: true },
      { key: 'same', remote: 'present', sent: true },
    ])
  })

  test('no table holds a value', async () => {
    const { rows } = await house.sql<{ all: string }>(
      `SELECT string_agg(to_jsonb(f)::text, ' ') || (SELECT string_agg(to_jsonb(l)::text, ' ') FROM rollcall.ledger l) AS all
       FROM rollcall.finding f`,
    )
    for (const value of ['Eva', 'Ana', 'Ada', '@example']) expect(rows[0]?.all).not.toContain(value)
  })

  test('one ends by itself, by a change, or by what rollcall writes', async () => {
    house.sandbox.users.edit('shut', { status: 2 })
    await behindCapture(house, `UPDATE clientes SET nombre = 'Eva' WHERE id = 'renamed'`)
    // A change of something else leaves it: what a check has found is remembered nowhere. A repair looks for itself.
    await house.settle(`UPDATE clientes SET apellidos = 'Gil' WHERE id = 'emptied'`)
    expect(house.sandbox.users.get('emptied')).toMatchObject({ first_name: null, last_name: 'Gil' })
    await noteLookup(house.db.pool, ['emptied'], LANE.repair)
    await house.settled()
    expect(house.sandbox.users.get('emptied')).toMatchObject({ first_name: 'Ana', last_name: 'Gil' })
    const checked = await verifier.checkKeys(['shut', 'renamed'])
    expect(checked.shut).toMatchObject({ verdict: { kind: 'agrees' }, resolved: 'by-itself' })
    expect(checked.renamed).toMatchObject({ verdict: { kind: 'agrees' }, resolved: 'by-a-change' })
    const emptied = (await storedFindings(house)).filter(({ key }) => key === 'emptied')
    expect(emptied).toMatchObject([{ how: 'by-a-change' }])
  })

  test('a check that cannot be stored gives up its rows', async () => {
    await using holder = await house.db.session()
    await holder.query(`BEGIN; SELECT FROM rollcall.ledger WHERE key = 'same' FOR UPDATE`)
    const checked = await verifier.checkKeys(['same', 'spelled'])
    await holder.query('ROLLBACK')
    await holder.query(`BEGIN; SELECT FROM rollcall.owed WHERE key = 'same' FOR UPDATE`)
    const beside = await verifier.checkKeys(['same', 'spelled'])
    await holder.query('ROLLBACK')
    expect(beside.spelled?.verdict).toEqual({ kind: 'agrees' })
    expect(checked.same?.verdict).toEqual({ kind: 'skipped', why: 'changed' })
    const { rows } = await house.sql(
      `SELECT key, token FROM rollcall.owed WHERE key IN ('same', 'spelled') ORDER BY key`,
    )
    expect(rows).toEqual([
      { key: 'same', token: null },
      { key: 'spelled', token: null },
    ])
  })
})
