// The address of the database leads to a standby for a while, as during a failover.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anyLane } from '../support/lanes.ts'
import { buildOwnHouse } from '../support/own-house.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

test('a worker that runs through it goes on at the new primary', async () => {
  await using house = await buildOwnHouse(anyLane)
  const { pool, sandbox, postgres } = house
  const write = (sql: string) => until(() => pool.query(sql), { what: 'the write is taken' })
  await write(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  await using worker = await runRollcall(house, ['worker'])
  await until(() => sandbox.users.get('c')?.status === 2)
  await house.settled()

  const { rows } = await pool.query<{ data_directory: string }>('SHOW data_directory')
  await postgres.kill()
  await writeFile(join(rows[0]?.data_directory ?? '', 'standby.signal'), '')
  await postgres.restart()
  await until(() => worker.output().includes('DATABASE_STANDBY'))

  await write('SELECT pg_promote()')
  await write(`UPDATE clientes SET plan = 'free'`)
  await until(() => sandbox.users.get('c')?.status === 0)
  worker.kill('SIGTERM')
  expect(await worker.exited).toMatchObject({ code: 0 })
})
