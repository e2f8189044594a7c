// An unexpectedly large value, and a row that cannot be read: each costs one customer.
import { describe, expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { buildHouse } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const SQL = `
CREATE TABLE clientes (id text PRIMARY KEY, plan text NOT NULL, notas text, ficha jsonb, n int NOT NULL DEFAULT 1);
CREATE VIEW v_clientes AS SELECT id, plan, notas, ficha, 'grupo ' || 1 / n AS grupo FROM clientes`

const config: Partial<RollcallConfig> = {
  customers: { view: 'v_clientes', key: 'id' },
  watch: [{ table: 'clientes', key: 'id' }],
  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { premium: 2 }, otherwise: 0 },
    description: 'notas',
    first_name: { columns: ['ficha'], map: ({ ficha }) => Object(ficha).nombre ?? null },
    ml_group_name: 'grupo',
  },
}

describe('a huge value and a row that cannot be read', () => {
  test('cost their own customer: a field, or the sync, and no other customer waits', async () => {
    await using house = await buildHouse(lane, { sql: SQL, config })
    const unreadable = new Set<string>()
    await house.startWorker({
      onStep: (key, step) => {
        if (step.step === 'ended' && step.end.reason?.code === 'customer-unreadable') unreadable.add(key)
      },
    })
    await house.sql(`INSERT INTO clientes (id, plan, notas, ficha, n)
      SELECT 'c-' || i, 'premium', 'n', '{"nombre": "Ana"}', 1 FROM generate_series(1, 30) i
      UNION ALL VALUES ('field', 'premium', repeat('x', 5000000), '{"nombre": "Eva"}'::jsonb, 1),
        ('function', 'premium', 'n', jsonb_build_object('nombre', 'Pía', 'x', repeat('x', 5000000)), 1),
        ('status', repeat('x', 5000000), 'n', NULL, 1),
        ('unreadable', 'premium', 'n', NULL, 0)`)
    await until(() => unreadable.size > 0 && house.sandbox.users.size === 32)
    expect([...unreadable]).toEqual(['unreadable'])
    const user = { status: 2, description: 'n', first_name: 'Ana', ml_group_name: 'grupo 1' }
    expect(house.sandbox.users.get('c-7')).toMatchObject(user)
    const { description, ...field } = { ...house.sandbox.users.get('field') }
    expect([description ?? null, field]).toMatchObject([null, { status: 2, first_name: 'Eva' }])
    expect(house.sandbox.users.get('function')).toMatchObject({ status: 2, description: 'n' })
    const wrong = [
      { key: 'field', state: 'idle', field: 'description', code: 'invalid', reason: null },
      { key: 'function', state: 'idle', field: 'first_name', code: 'invalid', reason: null },
      { key: 'status', state: 'rejected', field: 'status', code: 'invalid', reason: 'mapping' },
      { key: 'unreadable', state: 'failing', field: null, code: null, reason: 'customer-unreadable' },
    ]
    await until(async () => {
      const { rows } = await house.sql(
        `SELECT key, state, issues->0->>'field' AS field, issues->0->>'code' AS code, reason->>'code' AS reason
         FROM rollcall.ledger WHERE state <> 'idle' OR issues <> '[]' ORDER BY key`,
      )
      expect(rows).toEqual(wrong)
      return true
    })
    await house.sql(`UPDATE clientes SET notas = 'n', n = 1`)
    await until(
      () => house.sandbox.users.get('field')?.description === 'n' && house.sandbox.users.size === 33,
    )
  })
})
