import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { settledHouse } from '../support/settled-house.ts'

function sync(house: House, ...args: readonly string[]) {
  return rollcall(house, 'sync', ...args)
}

test('--lookup finds what was changed at the service, puts it right, and is needed for that', async () => {
  await using house = await buildHouse(lane)
  const { users } = house.sandbox
  await house.sql(
    `INSERT INTO clientes (id, plan, correo) SELECT k, 'premium', k || '@example.com' FROM unnest('{shut,edited,gone,left,trial}'::text[]) k`,
  )
  await house.sql(`UPDATE clientes SET plan = 'trial' WHERE id = 'trial'`)
  const keys = ['shut', 'edited', 'gone', 'left', 'trial']
  expect((await sync(house, ...keys)).code).toBe(0)
  await house.sql(`DELETE FROM clientes WHERE id = 'left'`)
  expect((await sync(house, 'left')).code).toBe(0)
  expect(users.get('left')?.status).toBe(0)

  users.edit('shut', { status: 0 })
  users.edit('edited', { email: 'other@example.com' })
  users.delete('gone')
  users.edit('left', { status: 2 })
  users.edit('trial', { status: 0 })
  const before = house.calls().length
  expect((await sync(house, ...keys)).code).toBe(0)
  expect(house.calls().slice(before)).toEqual([])

  expect((await sync(house, '--lookup', ...keys)).code).toBe(0)
  expect(house.calls().slice(before)).toEqual([
    { method: 'GET', body: undefined },
    { method: 'PATCH', body: { status: 2 } },
    { method: 'GET', body: undefined },
    { method: 'PATCH', body: { status: 2, email: 'edited@example.com' } },
    { method: 'GET', body: undefined },
    { method: 'POST', body: { user_id: 'gone', status: 2, email: 'gone@example.com' } },
    { method: 'GET', body: undefined },
    { method: 'PATCH', body: { status: 0 } },
    // A trial that has ended at the service is not granted again.
    { method: 'GET', body: undefined },
  ])
})

test('a lookup that would come too soon after a write is waited for, and said', async () => {
  await using house = await buildHouse(lane, { config: timed({ consistencyDelayMs: 1500 }) })
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  await sync(house, 'c')
  const { code, output } = await sync(house, '--lookup', 'c')
  expect(code).toBe(0)
  expect(output).toContain('settled')
  expect(house.calls('c').map(({ method }) => method)).toEqual(['POST', 'GET'])
})

test('an open finding is looked up first, without --lookup', async () => {
  await using house = await settledHouse(lane, `INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  house.sandbox.users.edit('c', { status: 0 })
  const drift = await rollcall(house, 'drift')
  expect(drift.code, drift.output).toBe(3)
  expect((await sync(house, '--dry-run', 'c')).output).toContain('lookup (GET) first')
  await house.sql(
    `UPDATE rollcall.ledger SET state = 'discarded', reason = '{"code":"held","kinds":["repair"]}',
       discard = jsonb_build_object('kinds', '["repair"]'::jsonb, 'desired', desired)`,
  )
  expect((await sync(house, 'c')).output).toContain('a person has discarded the change')
  expect(house.sandbox.users.get('c')?.status).toBe(0)
  const { rows } = await house.sql('SELECT state FROM rollcall.ledger')
  expect(rows).toEqual([{ state: 'discarded' }])
  await house.sql(`UPDATE rollcall.ledger SET state = 'idle', reason = NULL, discard = NULL`)
  await sync(house, 'c')
  expect(house.sandbox.users.get('c')?.status).toBe(2)
})
