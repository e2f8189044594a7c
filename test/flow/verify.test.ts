import { describe, expect, test } from 'vitest'
import { buildHouse, type House, PATIENT, workingHouse } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

type Plan = { readonly left: number; readonly inSeconds: number | null }

async function verification({ db }: House, key: string): Promise<Plan> {
  const { rows } = await db.sql<Plan>(
    `SELECT verify_left AS left, round(extract(epoch FROM verify_at - now()))::int AS "inSeconds"
     FROM rollcall.owed WHERE key = $1`,
    [key],
  )
  return rows[0] ?? { left: -1, inSeconds: null }
}

/** As if the time for the next lookup had come. */
async function letItCome({ db }: House, key: string): Promise<void> {
  await db.sql(
    'UPDATE rollcall.owed SET verify_at = now(), verify_left = greatest(verify_left, 1) WHERE key = $1',
    [key],
  )
}

const methods = (house: House, key: string) => house.calls(key).map(({ method }) => method)

/** A create whose answer is lost: the lookup that follows finds the user there. */
async function settleUnknown(house: House): Promise<void> {
  house.sandbox.faults.set([{ match: { method: 'POST' }, times: 1, action: { kind: 'drop-after' } }])
  await house.startWorker()
  await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'premium', 'Ana')`)
  expect(methods(house, 'c')).toEqual(['POST', 'GET'])
}

test('a user about which the service says that it is not there is looked up twice again when that ended an access: a gateway says so as well', async () => {
  await using house = await workingHouse(lane, { config: PATIENT })
  await house.settle(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  house.sandbox.faults.set([{ action: { kind: 'status', status: 404 } }])
  await house.settle('DELETE FROM clientes')
  expect((await verification(house, 'c')).inSeconds).toBeGreaterThan(30)
  await letItCome(house, 'c')
  await until(async () => ((await verification(house, 'c')).inSeconds ?? 0) > 540)
  house.sandbox.faults.clear()
  await letItCome(house, 'c')
  await until(() => house.sandbox.users.get('c')?.status === 0)
  await house.settled()
  expect(await verification(house, 'c')).toEqual({ left: 0, inSeconds: null })
})

describe('an outcome that was unknown', () => {
  test('is looked up again after one and after ten minutes, and what came late is put right', async () => {
    await using house = await buildHouse(lane, { config: PATIENT })
    await settleUnknown(house)
    const first = await verification(house, 'c')
    expect(first.left).toBe(2)
    expect(first.inSeconds).toBeGreaterThan(30)
    expect(first.inSeconds).toBeLessThanOrEqual(60)

    // A request that was under way for longer than every wait.
    house.sandbox.users.edit('c', { status: 0, first_name: 'Eva' })
    await letItCome(house, 'c')
    await until(() => house.sandbox.users.get('c')?.status === 2)
    await house.settled()
    expect(methods(house, 'c')).toEqual(['POST', 'GET', 'GET', 'PATCH'])
    expect(house.sandbox.users.get('c')).toMatchObject({ status: 2, first_name: 'Ana' })

    const second = await verification(house, 'c')
    expect(second.left).toBe(1)
    expect(second.inSeconds).toBeGreaterThan(540)
    await letItCome(house, 'c')
    await until(() => methods(house, 'c').length === 5)
    await house.settled()
    expect(methods(house, 'c').at(-1)).toBe('GET')
    expect(await verification(house, 'c')).toEqual({ left: 0, inSeconds: null })
    const { rows } = await house.sql(
      `SELECT verified_at > acknowledged_at AS proven FROM rollcall.ledger WHERE key = 'c'`,
    )
    expect(rows).toEqual([{ proven: true }])
  })

  test('that comes due during a claim waits for its end: an ended trial is not granted again', async () => {
    await using house = await workingHouse(lane, { config: PATIENT })
    await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'trial', 'Ana')`)
    const slow = { match: { method: 'PATCH' }, action: { kind: 'latency', minMs: 600, maxMs: 600 } } as const
    house.sandbox.faults.set([slow])
    await house.sql(`UPDATE clientes SET nombre = 'Eva' WHERE id = 'c'`)
    await until(() => methods(house, 'c').includes('GET')) // the look before the PATCH
    await letItCome(house, 'c')
    house.sandbox.faults.set([slow, { match: { method: 'GET' }, action: { kind: 'status', status: 503 } }])
    await until(async () => {
      const { rowCount } = await house.sql(`SELECT FROM rollcall.ledger WHERE state = 'failing'`)
      return rowCount === 1
    })
    house.sandbox.users.edit('c', { status: 0 })
    house.sandbox.faults.clear()
    await house.settled()
    expect(house.sandbox.users.get('c')).toMatchObject({ status: 0, first_name: 'Eva' })
  })
})
