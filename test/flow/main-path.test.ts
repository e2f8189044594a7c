import { expect, test } from 'vitest'
import { eachLane } from '../support/lanes.ts'
import { buildPresetHouse, writesOf } from '../support/presets.ts'

eachLane('a committed row reaches the service', (lane) => {
  test('insert creates, update patches only what changed plus status, delete revokes', async () => {
    await using house = await buildPresetHouse(lane, 'documented')
    await house.startWorker()

    await house.settle(
      `INSERT INTO clientes (id, plan, correo, nacido) VALUES ('c1', 'premium', 'ana@example.com', '1980-03-30')`,
    )
    expect(writesOf(house, 'c1')).toEqual([
      {
        method: 'POST',
        body: { user_id: 'c1', status: 2, email: 'ana@example.com', birthdate: '1980-03-30' },
      },
    ])

    await house.settle(`UPDATE clientes SET correo = 'ana@example.org' WHERE id = 'c1'`)
    expect(writesOf(house, 'c1').slice(1)).toEqual([
      { method: 'PATCH', body: { status: 2, email: 'ana@example.org' } },
    ])

    await house.settle(`DELETE FROM clientes WHERE id = 'c1'`)
    expect(writesOf(house, 'c1').slice(2)).toEqual([{ method: 'PATCH', body: { status: 0 } }])
  })
})
