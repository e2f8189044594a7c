import { expect, test } from 'vitest'
import { PATIENT, timed, workingHouse } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

eachLane('the fewest calls', (lane) => {
  test('ten updates of one row in quick succession cost at most two calls', async () => {
    const gapMs = 1000
    await using house = await workingHouse(lane, {
      config: { ...timed({ gapMs, lifetimeMs: 20_000 }), service: PATIENT.service },
    })
    await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'premium', '0')`)
    const before = house.calls('c').length
    const began = performance.now()
    for (let i = 1; i <= 10; i++) {
      await house.sql('UPDATE clientes SET nombre = $1', [String(i)])
      // Else all of them would be noted at once, and be one whatever the gap is.
      await until(async () => (await house.sql('SELECT FROM rollcall.outbox')).rowCount === 0)
    }
    // And one more for each gap that they last for, which they do on a machine that stands still.
    const gaps = Math.floor((performance.now() - began) / gapMs)
    await house.settled()
    expect(house.calls('c').length - before).toBeLessThanOrEqual(2 + gaps)
    expect(house.sandbox.users.get('c')?.first_name).toBe('10')
  })

  test('an unmapped column, a change that is undone and a repeated value cost none', async () => {
    await using house = await workingHouse(lane, { config: PATIENT })
    await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'premium', 'Ana')`)
    await house.sql(`UPDATE clientes SET interno = 'x'`)
    expect((await house.sql('SELECT count(*)::int AS n FROM rollcall.outbox')).rows[0].n).toBe(0)
    await house.settle(
      'BEGIN; UPDATE clientes SET nombre = $$B$$; UPDATE clientes SET nombre = $$Ana$$; COMMIT',
    )
    expect(house.calls()).toHaveLength(1)
  })
})
