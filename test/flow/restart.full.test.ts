import { expect, test } from 'vitest'
import { eachLane, type QueueLane } from '../support/lanes.ts'
import { buildOwnHouse, type OwnHouse } from '../support/own-house.ts'
import { type RunningProcess, runRollcall } from '../support/process.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const troubles = (output: string): number =>
  output.match(/a step of the worker failed: the worker will retry it|the queue reports an error/g)?.length ??
  0

/** A worker is busy with customers that keep changing; in the midst of it the server is restarted, and later killed. */
async function fallsTwice(lane: QueueLane, which: 'postgres' | 'queue'): Promise<void> {
  await using house = await buildOwnHouse(lane)
  house.sandbox.faults.set([{ action: { kind: 'latency', minMs: 30, maxMs: 90 } }])
  await using worker = await runRollcall(house, ['worker'])
  const { pool } = house
  const write = (sql: string) => until(() => pool.query(sql), { what: 'the write is taken' })
  await write(many(120))
  await until(() => house.sandbox.users.size > 15, { what: '15 users' })
  await house[which].restart()
  await write(`UPDATE clientes SET plan = 'trial' WHERE id LIKE '%0'`)
  await until(() => house.sandbox.users.size > 50, { what: '50 users' })
  const before = troubles(worker.output())
  await house[which].kill()
  await until(() => troubles(worker.output()) > before, { what: 'the worker tells of it' })
  await house[which].restart()
  await write(`UPDATE clientes SET nombre = 'Otra' WHERE id LIKE '%5'`)
  house.sandbox.faults.set([])
  await allRight(house)
  await allVerified(house)
  await endsWell(worker)
}

async function allRight(house: OwnHouse): Promise<void> {
  await until(() => house.sandbox.users.size === 120, { what: '120 users' })
  await house.settled()
  const { rows } = await house.pool.query<{ id: string; status: number; name: string | null }>(
    `SELECT id, CASE plan WHEN 'trial' THEN 4 ELSE 2 END AS status, nombre AS name FROM clientes`,
  )
  const wrong = rows.filter(({ id, status, name }) => {
    const user = house.sandbox.users.get(id)
    return user?.status !== status || (user.first_name ?? null) !== name
  })
  expect(wrong).toEqual([])
}

async function allVerified({ pool }: OwnHouse): Promise<void> {
  const { rows } = await pool.query<{ now: string }>('SELECT now()::text AS now')
  const verified = async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM rollcall.ledger WHERE checked_at > $1 AND verified_at >= checked_at`,
      [rows[0]?.now],
    )
    return rowCount === 120
  }
  await until(verified, { what: 'checks that agree of all 120' })
  expect((await pool.query('SELECT key, kind FROM rollcall.finding WHERE checks >= 2')).rows).toEqual([])
}

/** It has survived, and the error was reported as a line of the log and not as a crash that was caught somewhere. */
async function endsWell(worker: RunningProcess): Promise<void> {
  worker.kill('SIGTERM')
  expect(await worker.exited).toEqual({ code: 0, signal: null })
  const others = worker
    .output()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{"level":'))
  expect(others).toEqual([])
}

eachLane('a worker in the midst of its work', (lane) => {
  test('outlives a Postgres that is stopped in good order, and one that is killed and away for a while', () =>
    fallsTwice(lane, 'postgres'))

  // In the other lane the queue's server is the one above.
  test.skipIf(lane.name === 'postgres')('outlives a Redis that falls so, and comes back empty', () =>
    fallsTwice(lane, 'queue'),
  )
})
