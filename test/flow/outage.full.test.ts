// The service is out of order, or refuses our keys: all workers stop, one probe at a time goes out, and calls start again
// without a person.
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { readPace } from '../../src/pace/read.ts'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, type House, timed, workingHouse } from '../support/house.ts'
import { lanes, otherLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const breaker = async (pool: Pool): Promise<string> =>
  (await pool.query<{ breaker: string }>('SELECT breaker FROM rollcall.pace')).rows[0]?.breaker ?? ''

const HURRY = `UPDATE rollcall.pace SET probe_at = now() WHERE breaker = 'open' AND coalesce(probe_until <= now(), true)`

/** The pause before the next probe is over: what came of the last one is stored, and has closed it, or the tables say so. */
async function hurry(pool: Pool): Promise<void> {
  await until(async () => (await pool.query(HURRY)).rowCount === 1 || (await breaker(pool)) !== 'open')
}

async function insert(house: House, from: number, to: number): Promise<void> {
  await house.sql(
    `INSERT INTO clientes (id, plan) SELECT 'k' || i, 'premium' FROM generate_series(${from}, ${to}) i`,
  )
}

/** The highest count of attempts, and the longest wait of a customer before it, in milliseconds. */
async function worst(pool: Pool): Promise<{ attempts: number; waitMs: number }> {
  const { rows } = await pool.query<{ attempts: number; waitMs: number }>(
    `SELECT coalesce(max(attempts), 0) AS attempts,
       coalesce(max(extract(epoch FROM due_at - now())) * 1000, 0)::float8 AS "waitMs" FROM rollcall.owed`,
  )
  return rows[0] ?? { attempts: -1, waitMs: -1 }
}

const both = lanes.some(({ available }) => !available)
const OUTAGES: readonly (readonly [string, FaultInput['action']])[] = [
  ['answers 503 to everything', { kind: 'status', status: 503 }],
  ['takes no connection', { kind: 'drop-before' }],
  ['answers 502 to everything', { kind: 'status', status: 502 }],
  ['answers with a page of its proxy', { kind: 'status', status: 200, body: 'html' }],
]

otherLane('a service that is out of order', (lane) => {
  // Half of them in each lane: what is behind the queue makes no difference to them.
  test.each(both ? OUTAGES : OUTAGES.filter((_, at) => lanes[at % lanes.length] === lane))(
    'that %s: no process calls but one probe, and all are settled after it',
    async (_, action) => {
      await using house = await buildHouse(lane)
      const { pool } = house.db
      await house.startWorker()
      await house.startWorker()
      await insert(house, 1, 20)
      await house.settled()
      const before = house.calls().length
      house.sandbox.faults.set([{ action }])
      await insert(house, 21, 120)
      await until(async () => (await breaker(pool)) === 'open')
      await until(
        async () =>
          (await pool.query('SELECT FROM rollcall.owed WHERE call_token IS NOT NULL')).rowCount === 0,
      )
      const stopped = house.calls().length
      // Ten in a row, and what two workers had under way.
      expect(stopped - before).toBeLessThanOrEqual(10 + 2 * house.config.pace.concurrency)

      for (let probes = 1; probes <= 3; probes++) {
        await hurry(pool)
        await until(() => house.calls().length === stopped + probes)
      }
      expect(
        house
          .calls()
          .slice(stopped)
          .every(({ method }) => method === 'GET'),
      ).toBe(true)
      expect(await breaker(pool)).toBe('open')

      house.sandbox.faults.clear()
      await hurry(pool)
      await house.settled()
      expect(house.sandbox.users.size).toBe(120)
      expect((await worst(pool)).waitMs).toBeLessThan(60_000)
    },
  )

  test('a worker that starts while every process has stopped goes on when the service works', async () => {
    await using house = await buildHouse(lane)
    const first = await house.startWorker()
    house.sandbox.faults.set([{ action: { kind: 'drop-before' } }])
    await insert(house, 1, 60)
    await until(async () => (await breaker(house.db.pool)) === 'open')
    await first.stop()
    house.sandbox.faults.clear()
    // The process that had taken the probe has died.
    await house.sql(`UPDATE rollcall.pace SET probe_until = now() + interval '1 second'`)
    await house.startWorker()
    await house.settled()
    expect(house.sandbox.users.size).toBe(60)
  })

  test('a value at which it breaks keeps none of its many customers out, nor others waiting', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.faults.set([{ match: { field: 'description' }, action: { kind: 'status', status: 500 } }])
    await house.startWorker()
    await house.sql(
      `INSERT INTO clientes (id, plan, notas) SELECT 'k' || i, 'premium', 'x' FROM generate_series(1, 40) i`,
    )
    const withAccess = () => house.sandbox.users.all().filter(({ status }) => status === 2).length
    await until(async () => {
      await house.sql(HURRY)
      return withAccess() === 40
    })
    await insert(house, 41, 41)
    await until(() => withAccess() === 41)
    await house.sql(`UPDATE clientes SET plan = 'free'`)
    await until(() => withAccess() === 0)
    house.sandbox.faults.clear()
    await house.settled()
  })
})

// By itself: a claim that runs out of time on a busy machine would come again in an hour, too.
otherLane('a service that is out of order', (lane) => {
  test('no customer has an attempt less when it is over', async () => {
    await using house = await buildHouse(lane, {
      config: timed({ lifetimeMs: 20_000, retryMinMs: 3_600_000, retryMaxMs: 3_600_000 }),
    })
    const { pool } = house.db
    await house.startWorker()
    await insert(house, 1, 20)
    await house.settled()
    house.sandbox.faults.set([{ action: { kind: 'drop-before' } }])
    await insert(house, 21, 120)
    await until(async () => (await breaker(pool)) === 'open')
    // An ending that comes when all is over already keeps its wait.
    const underWay = 'SELECT FROM rollcall.owed WHERE call_token IS NOT NULL'
    await until(async () => (await pool.query(underWay)).rowCount === 0)
    await hurry(pool)
    await until(async () => ((await readPace(pool))?.failedProbes ?? 0) > 0)
    house.sandbox.faults.clear()
    await hurry(pool)
    // Failed customers would come again in an hour.
    await house.settled()
    expect((await worst(pool)).attempts).toBe(0)
  })
})

otherLane('keys that were rotated wrongly', (lane) => {
  test('stop every process within ten calls, and all goes on by itself when they are right', async () => {
    await using house = await workingHouse(lane, { config: { pace: { ceiling: 50, concurrency: 20 } } })
    await insert(house, 1, 20)
    await house.settled()
    const before = house.calls().length
    house.sandbox.faults.set([{ action: { kind: 'status', status: 401 } }])
    await insert(house, 21, 120)
    await until(async () => (await readPace(house.db.pool))?.cause === 'credentials')
    await until(
      async () => (await house.sql('SELECT FROM rollcall.owed WHERE call_token IS NOT NULL')).rowCount === 0,
    )
    expect(house.calls().length - before).toBeLessThanOrEqual(10)
    house.sandbox.faults.clear()
    await house.settled()
    expect(house.sandbox.users.size).toBe(120)
  })

  test('that one worker has do not stop another one whose keys are right', async () => {
    await using house = await workingHouse(lane)
    await insert(house, 1, 20)
    await house.settled()
    await house.startWorker({}, { SERVICE_SECRET_KEY: 'no-longer-the-right-one' })
    await insert(house, 21, 220)
    await house.settled()
    expect(house.sandbox.users.size).toBe(220)
    expect((await worst(house.db.pool)).attempts).toBe(0)
  })

  test('customers who are refused one by one stop no process', async () => {
    await using house = await workingHouse(lane)
    house.sandbox.faults.set([
      { match: { userId: 'k1' }, action: { kind: 'status', status: 403 } },
      { match: { userId: 'k2' }, action: { kind: 'status', status: 403 } },
      { match: { userId: 'k3' }, action: { kind: 'status', status: 401 } },
      { match: { userId: 'k4' }, action: { kind: 'status', status: 403 } },
    ])
    await insert(house, 1, 40)
    await until(() => house.sandbox.users.size === 36)
    await until(() => house.calls('k1').length > 4)
    house.sandbox.faults.clear()
    await house.settled()
    expect(house.sandbox.users.size).toBe(40)
  })
})
