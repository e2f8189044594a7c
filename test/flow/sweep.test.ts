// Rows that were written while nothing captured them: found by the daily check, put right, and told.
import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { startOther } from '../support/other-mapping.ts'
import { until } from '../support/until.ts'

eachLane('what capture has missed', (lane) => {
  test('is found by the check, put right at the service, and counted in log, status and metrics', async () => {
    await using house = await buildHouse(lane)
    const { pool } = house.db
    await pool.query(
      `INSERT INTO clientes (id, plan) SELECT 'k' || i, 'premium' FROM generate_series(1, 45) i`,
    )
    await using worker = await startOther(house, {})
    const first = await rollcall(house, 'capture', 'resync')
    expect(first.output).toContain('45 customers were checked')
    await house.settled()
    const before = house.calls().length

    await pool.query('ALTER TABLE clientes DISABLE TRIGGER ALL')
    await pool.query(
      `INSERT INTO clientes (id, plan) SELECT 'n' || i, 'premium' FROM generate_series(1, 20) i`,
    )
    await pool.query(`UPDATE clientes SET nombre = 'Ana' WHERE substr(id, 2)::int <= 20 AND id LIKE 'k%'`)
    await pool.query(`DELETE FROM clientes WHERE id LIKE 'k%' AND substr(id, 2)::int > 25`)
    await pool.query('ALTER TABLE clientes ENABLE TRIGGER ALL')
    await pool.query(`UPDATE rollcall.run SET ended_at = ended_at - interval '25 hours'`)
    await until(() => worker.said.some((text) => text.startsWith('capture has missed changes')))
    await house.settled()
    expect(house.calls()).toHaveLength(before + 60)
    for (let i = 1; i <= 45; i++) {
      const user = i > 25 ? { status: 0 } : i <= 20 ? { status: 2, first_name: 'Ana' } : { status: 2 }
      expect(house.sandbox.users.get(`k${i}`), `k${i}`).toMatchObject(user)
    }
    for (let i = 1; i <= 20; i++) expect(house.sandbox.users.get(`n${i}`)).toMatchObject({ status: 2 })

    const status = await rollcall(house, 'status', '--json')
    expect(status.code).toBe(3)
    const { sweeps, attention } = JSON.parse(status.output)
    expect(sweeps.check).toMatchObject({ kind: 'check', missed: { inserted: 20, changed: 20, deleted: 20 } })
    expect(attention).toEqual([expect.stringContaining('DISABLE TRIGGER')])

    // Until somebody has looked and finds nothing.
    const again = await rollcall(house, 'capture', 'resync')
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('0 are owed a sync') })
    expect((await rollcall(house, 'status')).code).toBe(0)
    expect(house.calls()).toHaveLength(before + 60)
  })
})
