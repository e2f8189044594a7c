import { describe, expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, PATIENT, timed, workingHouse } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const KINDS: FaultInput['action'][] = [
  { kind: 'drop-before' },
  { kind: 'drop-after' },
  { kind: 'hang-after' },
  { kind: 'status', status: 500, stored: true },
  { kind: 'status', status: 503 },
  { kind: 'status', status: 503, retryAfter: { form: 'seconds', seconds: 0 } },
  { kind: 'status', status: 502, body: 'html', stored: true },
  { kind: 'status', status: 408, stored: true },
  { kind: 'status', status: 200, body: 'html', stored: true },
]

describe('a service that fails', () => {
  test('with a third of all calls failing in every way, every customer is right at the end', async () => {
    await using house = await buildHouse(lane, {
      config: {
        service: { timeoutMs: 600 },
        ...timed({
          ...{ lifetimeMs: 1800, queueLeaseMs: 800, gapMs: 20, retryMinMs: 20 },
          // On a busy machine claims run out of time; were they tried again at once, it would stay busy with them.
          retryMaxMs: 5000,
        }),
      },
    })
    house.sandbox.faults.set(KINDS.map((action) => ({ rate: 0.04, action })))
    await house.startWorker()
    await house.sql(
      `INSERT INTO clientes (id, plan, nombre, pais) SELECT 'k' || i, 'premium', 'a', 'ES' FROM generate_series(1, 20) i`,
    )
    for (const name of ['b', 'c', 'd']) {
      await house.sql('UPDATE clientes SET nombre = $1', [name])
      await new Promise((resolve) => setImmediate(resolve))
    }
    await house.sql(`UPDATE clientes SET plan = 'trial' WHERE id = 'k1'`)
    await house.settle(`DELETE FROM clientes WHERE id IN ('k2', 'k3')`)
    for (const { user_id, status, first_name, country_code } of house.sandbox.users.all()) {
      const gone = user_id === 'k2' || user_id === 'k3'
      expect([user_id, status], user_id).toEqual([user_id, gone ? 0 : user_id === 'k1' ? 4 : 2])
      if (!gone) expect([first_name, country_code], user_id).toEqual(['d', 'ES'])
    }
  })

  test('an unknown outcome is looked up, and a write that landed is not repeated', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.faults.set([{ match: { method: 'POST' }, times: 1, action: { kind: 'drop-after' } }])
    await house.startWorker()
    await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'premium', 'Ana')`)
    expect(house.calls('c').map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('an update refused for a field: the status goes alone, the field waits until it changes', async () => {
    await using house = await workingHouse(lane, { config: PATIENT })
    await house.settle(
      `INSERT INTO clientes (id, plan, nombre, correo) VALUES ('c', 'premium', 'Ana', 'a@example.com')`,
    )
    house.sandbox.faults.set([
      { match: { method: 'PATCH', field: 'email' }, times: 1, action: { kind: 'status', status: 422 } },
    ])
    await house.settle(`UPDATE clientes SET correo = 'b@example.com', plan = 'trial'`)
    const sent = house.calls('c').map(({ body }) => body)
    expect(sent.slice(1)).toEqual([{ status: 4, email: 'b@example.com' }, { status: 4 }])
    const { rows } = await house.sql('SELECT state, issues FROM rollcall.ledger')
    expect(rows[0]).toMatchObject({ state: 'idle', issues: [{ field: 'email', code: 'refused' }] })
    await house.settle(`UPDATE clientes SET correo = 'c@example.com', plan = 'premium'`)
    expect(house.calls('c').at(-1)?.body).toEqual({ status: 2, email: 'c@example.com' })
  })

  test('one customer who is always refused holds up no customer', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.faults.set([
      { match: { userId: 'k1' }, action: { kind: 'status', status: 403 } },
      { match: { userId: 'k2' }, action: { kind: 'status', status: 503 } },
    ])
    await house.startWorker()
    await house.sql(many(50))
    await until(() => house.sandbox.users.size === 48, { what: '48 users' })
    // The worker stores the outcome after the call.
    await until(async () => {
      const { rows } = await house.sql(
        `SELECT key, reason->>'status' AS status FROM rollcall.ledger WHERE state <> 'idle' ORDER BY key`,
      )
      expect(rows).toEqual([
        { key: 'k1', status: '403' },
        { key: 'k2', status: '503' },
      ])
      return true
    })
  })
})
