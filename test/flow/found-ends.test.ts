import { expect, test } from 'vitest'
import { readVerification } from '../../src/drift/coverage.ts'
import { rollcall } from '../support/command.ts'
import { runDrift } from '../support/drift-command.ts'
import { postgres as lane } from '../support/lanes.ts'
import { settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const THREE = `INSERT INTO clientes (id, plan, nombre)
  VALUES ('a', 'premium', 'Ana'), ('b', 'premium', 'Bea'), ('c', 'premium', 'Cai')`

test('a finding ends with `sync --lookup`, an ordinary change and a revocation, and not with a change that leaves it', async () => {
  await using house = await settledHouse(lane, THREE)
  for (const key of ['a', 'b']) house.sandbox.users.edit(key, { status: 0 })
  house.sandbox.users.edit('c', { first_name: 'Eva' })
  expect((await runDrift(house, ['--json'])).code).toBe(3)
  const reported = async () => {
    const { findings } = JSON.parse((await runDrift(house, ['--from-ledger', '--json'])).out)
    const { open } = await readVerification(house.db.pool, house.config.reconcile.periodMs)
    return [findings.map(({ key }: { key: string }) => key).sort(), open]
  }
  expect(await reported()).toEqual([['a', 'b', 'c'], expect.objectContaining({ differs: 3 })])

  expect((await rollcall(house, 'sync', 'a', '--lookup')).code).toBe(0)
  expect(await reported()).toEqual([['b', 'c'], expect.objectContaining({ differs: 2 })])

  await house.sql(`UPDATE clientes SET apellidos = 'Gil' WHERE id IN ('b', 'c')`)
  await house.startWorker()
  await until(() => house.calls('c').at(-1)?.method === 'PATCH', { what: 'the change of c' })
  await house.settled()
  // Each update carries the status, and so mends that; of the first name of `c` it says nothing.
  expect(await reported()).toEqual([['c'], expect.objectContaining({ differs: 1 })])
  expect(house.sandbox.users.get('b')).toMatchObject({ status: 2, last_name: 'Gil' })

  await house.sql(`DELETE FROM clientes WHERE id = 'c'`)
  await until(() => house.sandbox.users.get('c')?.status === 0, { what: 'the revocation of c' })
  await house.settled()
  expect(await reported()).toEqual([[], expect.objectContaining({ differs: 0 })])
})
