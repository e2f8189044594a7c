// A mapped column that is dropped while a worker runs: what is wrong is said at once, and by its name.
import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse } from '../support/house.ts'
import { lanes } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

const MISFIT = 'mapping.email: there is no column correo in public.clientes'

test('the first error in the log names column and table, and so do failures', async () => {
  const [, lane] = lanes
  if (!lane) throw new Error('the Postgres lane is always there')
  await using house = await buildHouse(lane)
  const { pool } = house.db
  await using worker = await runRollcall(house, ['worker'])
  const lines = () =>
    worker
      .output()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []))
  await until(() => lines().some(({ msg }) => msg === 'the worker runs'))
  // Housekeeping, which looks for such things every minute, has been there once.
  await pool.query(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'premium')`)
  await house.settled()

  await pool.query('ALTER TABLE clientes DROP COLUMN correo')
  await pool.query(`UPDATE clientes SET nombre = 'Ana'`)
  const errors = () => lines().filter(({ level }) => level >= 50)
  await until(() => errors().length > 0)
  expect(errors()[0]).toMatchObject({ problem: expect.stringContaining(MISFIT) })
  await until(async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM rollcall.ledger WHERE reason->>'code' = 'customer-unreadable'`,
    )
    return rowCount === 2
  })
  // Once, and not for each customer or attempt.
  expect(errors().filter(({ problem }) => problem === errors()[0].problem)).toHaveLength(1)

  const { code, output } = await rollcall(house, 'failures')
  expect(code).toBe(3)
  const said = output.replaceAll(/\s+/g, ' ')
  expect(said).toContain(MISFIT)
  expect(said).toContain('rollcall.config.ts')
  expect(said).not.toContain('make the row readable')
})
