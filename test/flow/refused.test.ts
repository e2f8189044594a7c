import { expect, test } from 'vitest'
import { buildHouse, CONFIG } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

eachLane('a refusal', (lane) => {
  test('that leaves a trial alone does not have it granted again', async () => {
    // The wait is anything up to this: so long that none ends before the plan has changed.
    const timing = { ...CONFIG.timing, retryMinMs: 3_600_000, retryMaxMs: 3_600_000 }
    await using house = await buildHouse(lane, { contract: { trialAgain: 'restarts' }, config: { timing } })
    const { db, sandbox } = house
    await house.startWorker()
    await db.pool.query(`INSERT INTO clientes (id, plan) VALUES ('c', 'trial')`)
    await house.settled()
    sandbox.faults.set([{ match: { method: 'PATCH' }, times: 1, action: { kind: 'status', status: 429 } }])
    await db.pool.query(`UPDATE clientes SET plan = 'premium'`)
    await until(
      async () => (await db.pool.query('SELECT FROM rollcall.owed WHERE attempts = 1')).rowCount === 1,
    )
    await db.pool.query(`UPDATE clientes SET plan = 'trial'`)
    await house.settled()
    expect(house.calls('c').map(({ body }) => body)).toEqual([{ user_id: 'c', status: 4 }, { status: 2 }])
  })

  test('of a revocation does not leave the access for ever', async () => {
    await using house = await buildHouse(lane)
    await house.startWorker()
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    await house.settled()
    house.sandbox.faults.set([
      { match: { method: 'PATCH' }, times: 1, action: { kind: 'status', status: 413 } },
    ])
    await pool.query('DELETE FROM clientes')
    await until(() => house.calls('c').length >= 2)
    await house.settled()
    expect(house.sandbox.users.get('c')?.status).toBe(0)
  })
})
