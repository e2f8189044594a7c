// Another ROLLCALL_DIGEST_KEY, step by step as docs/security.md tells it: nothing is lost, and it costs a look up each user.
import { expect, test } from 'vitest'
import { makeDigester } from '../../src/sync/digest.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

const NEW_KEY = 'another-digest-key-of-thirty-two-chars'

test('another ROLLCALL_DIGEST_KEY loses nothing, and costs one lookup of each user instead of writes', async () => {
  await using house = await buildHouse(lane)
  await house.sql(`INSERT INTO clientes (id, plan, nombre, correo, pais) VALUES
    ('plain', 'premium', 'Ana', 'ana@example.com', 'ES'), ('changed', 'premium', 'Bea', 'bea@example.com', 'ES'),
    ('trial', 'trial', 'Cira', NULL, NULL), ('gone', 'premium', 'Dora', NULL, 'ES'), ('rejected', 'nonsense', 'Eva', NULL, 'ES')`)
  const old = await house.startWorker()
  await house.settled()
  await house.settle(`DELETE FROM clientes WHERE id = 'gone'`)
  house.sandbox.users.edit('trial', { status: 0 })
  const before = house.calls().length

  const rekeyed = { ...house, env: { ...house.env, ROLLCALL_DIGEST_KEY: NEW_KEY } }
  const tooEarly = await rollcall(rekeyed, 'worker')
  expect(tooEarly).toMatchObject({ code: 2, output: expect.stringContaining('migrate --target same') })
  expect(await rollcall(rekeyed, 'migrate', '--target', 'same')).toMatchObject({ code: 0 })

  // The worker with the old key runs on and claims nothing more; what changes meanwhile waits.
  await house.sql(`UPDATE clientes SET correo = 'bea.2@example.com', pais = 'PT' WHERE id = 'changed'`)
  await until(
    async () => (await house.sql('SELECT FROM rollcall.owed WHERE due_at IS NOT NULL')).rowCount === 1,
  )
  expect(house.calls()).toHaveLength(before)

  await old.stop()
  await using worker = await runRollcall(rekeyed, ['worker'])
  await house.settled()
  expect(house.calls('changed').slice(-2)).toEqual([
    { method: 'GET', body: undefined },
    { method: 'PATCH', body: { status: 2, email: 'bea.2@example.com', country_code: 'PT' } },
  ])
  expect(await rollcall(rekeyed, 'capture', 'resync')).toMatchObject({ code: 0 })
  await house.settled()
  const calls = ['plain', 'trial', 'gone', 'rejected'].map((id) =>
    house.calls(id).map(({ method }) => method),
  )
  expect(calls).toEqual([['POST', 'GET'], ['POST', 'GET'], ['POST', 'PATCH', 'GET'], []])
  const { rows } = await house.sql<{ id: string }>('SELECT DISTINCT digest_key AS id FROM rollcall.ledger')
  expect(rows).toEqual([{ id: makeDigester(NEW_KEY).id }])

  // From here on nothing is dearer than before, and the trial that had ended stays ended.
  const after = house.calls().length
  await house.sql(`UPDATE clientes SET pais = 'PT' WHERE id = 'plain'`)
  expect(await rollcall(rekeyed, 'capture', 'resync')).toMatchObject({ code: 0 })
  await house.settled()
  expect(house.calls().slice(after)).toEqual([{ method: 'PATCH', body: { status: 2, country_code: 'PT' } }])
  expect(house.sandbox.users.get('trial')?.status).toBe(0)
  worker.kill('SIGTERM')
  expect(await worker.exited).toMatchObject({ code: 0 })
})
