// `migrate --target` at the service that it was: what a person was to decide stays so, and a gap in capture is swept.
import { expect, test } from 'vitest'
import { closeMarks } from '../../src/capture/marks.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, workingHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

test('a mass of revocations goes no further, and what was discarded stays as it is', async () => {
  await using house = await buildHouse(lane, { config: { brake: { changes: { customers: 3, share: 0 } } } })
  const statuses = (wanted: number) => house.sandbox.users.all().filter(({ status }) => status === wanted)
  let worker = await house.startWorker()
  await house.sql(many(12))
  await until(() => house.sandbox.users.size === 12)
  await house.settled()
  await house.sql('DELETE FROM clientes')
  const held = async () => (await house.sql(`SELECT key FROM rollcall.ledger WHERE state = 'held'`)).rows
  await until(async () => (await held()).length === 9)
  const [{ key }] = await held()
  expect(await rollcall(house, 'held', 'discard', key, '--why', 'a test')).toMatchObject({ code: 0 })
  for (const _ of [1, 2]) {
    await worker.stop()
    expect(await rollcall(house, 'migrate', '--target', 'new')).toMatchObject({ code: 0 })
    worker = await house.startWorker()
    await until(async () => (await held()).length === 8)
    await house.settled()
    expect(statuses(0)).toHaveLength(3)
  }
  const { rows } = await house.sql(`SELECT key FROM rollcall.ledger WHERE state = 'discarded'`)
  expect(rows).toEqual([{ key }])
})

test.each(['same', 'new'])(
  'a gap that was closed on a server with later transactions is swept (%s)',
  async (as) => {
    await using house = await buildHouse(lane)
    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    expect(await rollcall(house, 'sync', 'c')).toMatchObject({ code: 0 })
    await house.sql(`BEGIN; SET LOCAL session_replication_role = replica;
    UPDATE clientes SET plan = 'free' WHERE id = 'c'; INSERT INTO clientes (id, plan) VALUES ('e', 'premium');
    INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.clientes'); COMMIT`)
    await closeMarks(house.db.pool, ['overflow'])
    await house.sql(
      'UPDATE rollcall.capture_mark SET resync_after = (resync_after::bigint + 100000000)::text',
    )
    await house.sql('UPDATE rollcall.target SET database_oid = database_oid + 1')
    expect(await rollcall(house, 'migrate', '--target', as)).toMatchObject({ code: 0 })
    await house.startWorker()
    await until(
      () => house.sandbox.users.get('c')?.status === 0 && house.sandbox.users.get('e')?.status === 2,
    )
  },
)

test('a customer that the restored tables do not know is swept after new', async () => {
  await using house = await workingHouse(lane)
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('lost', 'premium')`)
  await until(() => house.sandbox.users.size === 2)
  await house.settled()
  // As if only the schema of rollcall were restored, from before `lost` came.
  await house.sql(`BEGIN; SET LOCAL session_replication_role = replica; UPDATE clientes SET plan = 'free' WHERE id = 'lost';
    DELETE FROM rollcall.ledger WHERE key = 'lost'; DELETE FROM rollcall.owed WHERE key = 'lost'; COMMIT`)
  expect(await rollcall(house, 'migrate', '--target', 'new')).toMatchObject({ code: 0 })
  await house.startWorker()
  await until(() => house.sandbox.users.get('lost')?.status === 0)
})
