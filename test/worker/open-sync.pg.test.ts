import { expect, test } from 'vitest'
import { openSync, type Secrets } from '../../src/worker/open-sync.ts'
import { buildHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

test('changes that are noted before a customer loses access count as captured', async () => {
  await using house = await buildHouse(lane)
  const captured: number[] = []
  const { context, close } = await openSync({
    ...{ config: house.config, env: house.env as Secrets, onPoolError: () => undefined },
    onCaptured: (changes) => captured.push(changes),
  })
  await house.db.pool.query(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'premium')`)
  const noted = await context.whenNoted().finally(close)
  expect([noted, captured]).toEqual([true, [2]])
})
