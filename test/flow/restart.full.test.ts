import { expect, test } from 'vitest'
import type { FallingServer } from '../support/falling.ts'
import { eachLane, type QueueLane } from '../support/lanes.ts'
import { buildOwnHouse, type OwnHouse } from '../support/own-house.ts'
import { type RunningProcess, runRollcall } from '../support/process.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

type Fall = {
  readonly how: string
  /** `noticed`: resolves when the worker has told of it. */
  readonly fall: (server: FallingServer, noticed: () => Promise<unknown>) => Promise<void>
}

const FALLS: readonly Fall[] = [
  { how: 'stopped in good order', fall: (server) => server.restart() },
  {
    how: 'killed, and away for a while',
    async fall(server, noticed) {
      await server.kill()
      await noticed()
      await server.restart()
    },
  },
]

/** How often a worker has told that a server is away. */
const troubles = (output: string): number =>
  output.match(/a step failed and will be tried again|the queue has trouble/g)?.length ?? 0

/** A worker is busy with customers that keep changing; the server falls twice in the midst of it. */
async function fallsTwice(lane: QueueLane, which: 'postgres' | 'queue', { fall }: Fall): Promise<void> {
  await using house = await buildOwnHouse(lane)
  house.sandbox.faults.set([{ action: { kind: 'latency', minMs: 30, maxMs: 90 } }])
  await using worker = await runRollcall(house, ['worker'])
  const { pool } = house
  const write = (sql: string) => until(() => pool.query(sql), { what: 'the write is taken' })
  await write(many(300))
  await until(() => house.sandbox.users.size > 30, { what: '30 users' })
  const noticed = () => {
    const before = troubles(worker.output())
    return until(() => troubles(worker.output()) > before, { what: 'the worker tells of it' })
  }
  await fall(house[which], noticed)
  await write(`UPDATE clientes SET plan = 'trial' WHERE id LIKE '%0'`)
  await until(() => house.sandbox.users.size > 120, { what: '120 users' })
  await fall(house[which], noticed)
  await write(`UPDATE clientes SET nombre = 'Otra' WHERE id LIKE '%5'`)
  house.sandbox.faults.set([])
  await allRight(house)
  await allVerified(house)
  await endsWell(worker)
}

async function allRight(house: OwnHouse): Promise<void> {
  await until(() => house.sandbox.users.size === 300, { what: '300 users' })
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

/** Looks go on, and have found nothing. */
async function allVerified({ pool }: OwnHouse): Promise<void> {
  const { rows } = await pool.query<{ now: string }>('SELECT now()::text AS now')
  const verified = async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM rollcall.ledger WHERE looked_at > $1 AND verified_at >= looked_at`,
      [rows[0]?.now],
    )
    return rowCount === 300
  }
  await until(verified, { what: 'looks at which all 300 agree' })
  expect((await pool.query('SELECT key, kind FROM rollcall.finding WHERE looks >= 2')).rows).toEqual([])
}

/** It has survived, and what broke was told as a line of the log and not as a crash that was caught somewhere. */
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
  test.each(FALLS)('outlives a Postgres that is $how', (fall) => fallsTwice(lane, 'postgres', fall))

  // In the other lane the queue's server is the one above.
  test.skipIf(lane.name === 'postgres').each(FALLS)(
    'outlives a Redis that is $how and comes back empty',
    (fall) => fallsTwice(lane, 'queue', fall),
  )
})
