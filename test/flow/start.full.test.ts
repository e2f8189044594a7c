import { describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { anyLane, eachLane, postgres } from '../support/lanes.ts'
import { type RunningProcess, runRollcall } from '../support/process.ts'
import { connectRedis } from '../support/redis.ts'
import { startRedis } from '../support/redis-server.ts'
import { makeRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'

const GOOD_ORDER = { code: 0, signal: null }

function start(
  house: House,
  env: Readonly<Record<string, string>>,
  args = ['worker'],
): Promise<RunningProcess> {
  return runRollcall({ ...house, env: { ...house.env, ...env } }, args)
}

const waits = (worker: RunningProcess, what: 'database' | 'queue') =>
  until(() => worker.output().includes(`the ${what} does not answer yet: the worker waits for it`))

function waitingReported(worker: RunningProcess): unknown {
  const line = worker
    .output()
    .split('\n')
    .find((each) => each.includes('does not answer yet'))
  return JSON.parse(line ?? '')
}

async function settlesOne(house: House, worker: RunningProcess): Promise<void> {
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  await until(() => house.sandbox.users.get('c')?.status === 2)
  await house.settled()
  worker.kill('SIGTERM')
  expect(await worker.exited).toEqual(GOOD_ORDER)
}

function passwordOf(url: string | undefined): string {
  return new URL(url ?? '').password
}

eachLane('a worker that is started first', (lane) => {
  test('waits for the database, says where, and goes on by itself', async () => {
    await using house = await buildHouse(lane)
    const { DATABASE_URL = '', QUEUE_URL = '' } = house.env
    await using door = await makeRelay(DATABASE_URL)
    await using worker = await start(house, {
      DATABASE_URL: door.url,
      QUEUE_URL: QUEUE_URL === DATABASE_URL ? door.url : QUEUE_URL,
    })
    await waits(worker, 'database')
    await door.open()
    await settlesOne(house, worker)
    expect(waitingReported(worker)).toMatchObject({ level: 40, server: door.server, code: 'DATABASE_DOWN' })
    expect(worker.output()).not.toContain(passwordOf(DATABASE_URL))
  })

  test('ends in good order when Postgres falls in the same moment', async () => {
    await using house = await buildHouse(lane)
    const { DATABASE_URL = '', QUEUE_URL = '' } = house.env
    await using door = await makeRelay(DATABASE_URL)
    await door.open('falling')
    const queue = QUEUE_URL === DATABASE_URL ? { QUEUE_URL: door.url } : {}
    await using worker = await start(house, { DATABASE_URL: door.url, ...queue })
    await settlesOne(house, worker)
  })

  test('waits for the queue, says where, and goes on by itself', async () => {
    await using house = await buildHouse(lane)
    await using door = await makeRelay(house.env.QUEUE_URL ?? '')
    await using worker = await start(house, { QUEUE_URL: door.url })
    await waits(worker, 'queue')
    await door.open()
    await settlesOne(house, worker)
    expect(waitingReported(worker)).toMatchObject({ level: 40, server: door.server, code: 'QUEUE_DOWN' })
    expect(worker.output()).not.toContain(passwordOf(house.env.QUEUE_URL))
  })
})

test('a worker that is started first ends in good order when it is told to while it waits, also for a server that says nothing', async () => {
  await using house = await buildHouse(anyLane)
  await using door = await makeRelay(house.env.DATABASE_URL ?? '')
  await using queueDoor = await makeRelay(house.env.QUEUE_URL ?? '')
  await door.open('deaf')
  await queueDoor.open('deaf')
  for (const [what, env] of [
    ['database', { DATABASE_URL: door.url }],
    ['queue', { QUEUE_URL: queueDoor.url }],
    // Names that no name server knows, as before a container of that name was started.
    ['database', { DATABASE_URL: 'postgres://a:b@database.invalid/c', ALLOW_PLAINTEXT: 'database' }],
    ['queue', { QUEUE_URL: 'redis://queue.invalid', ALLOW_PLAINTEXT: 'queue' }],
  ] as const) {
    await using worker = await start(house, env)
    await waits(worker, what)
    worker.kill('SIGTERM')
    expect(await worker.exited).toEqual(GOOD_ORDER)
  }
})

test('what waiting does not cure ends the worker with a sentence: no such role, no such database, no tables of ours', async () => {
  await using house = await buildHouse(anyLane)
  await using empty = await freshDatabase({ empty: true })
  const changed = (change: (url: URL) => void) => {
    const url = new URL(house.db.url)
    change(url)
    return url.href
  }
  const stranger = changed((url) => {
    url.username = 'nobody_of_this_name'
  })
  const elsewhere = changed((url) => {
    url.pathname = '/no_such_database'
  })
  for (const [url, code, words] of [
    [stranger, 1, 'nobody_of_this_name'],
    [elsewhere, 1, 'no_such_database'],
    [empty.url, 2, 'rollcall migrate'],
  ] as const) {
    await using worker = await start(house, { DATABASE_URL: url })
    expect([(await worker.exited).code, worker.output()]).toEqual([code, expect.stringContaining(words)])
  }
})

test.concurrent('what waiting does not cure ends the worker with a sentence: a Redis with another password, or one that evicts', async () => {
  await using redis = await startRedis()
  await using house = await buildHouse({
    name: 'redis',
    available: true,
    queueUrl: async () => redis.url,
    lose: async () => undefined,
  })
  const wrong = new URL(redis.url)
  wrong.password = 'not-the-password'
  await using refused = await start(house, { QUEUE_URL: wrong.href })
  expect((await refused.exited).code).toBe(1)
  expect(refused.output()).toContain(`redis://127.0.0.1:${redis.port}: WRONGPASS`)
  expect(refused.output()).not.toContain('not-the-password')

  wrong.password = ''
  await using nameless = await start(house, { QUEUE_URL: wrong.href })
  expect([(await nameless.exited).code, nameless.output()]).toEqual([1, expect.stringContaining('NOAUTH')])

  await using session = connectRedis(redis.url)
  await session.redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  await using unfit = await start(house, {})
  expect([(await unfit.exited).code, unfit.output()]).toEqual([2, expect.stringContaining('allkeys-lru')])
})

test('a queue in Postgres that takes connections and says nothing holds the worker up for seconds', async () => {
  await using house = await buildHouse(postgres)
  await using door = await makeRelay(house.env.QUEUE_URL ?? '')
  await door.open()
  await using worker = await start(house, { QUEUE_URL: door.url })
  await until(() => worker.output().includes('the worker runs'))
  await door.open('deaf')
  await until(() => worker.output().includes('the queue reports an error'))
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium')`)
  await until(() => worker.output().includes('a step of the worker failed'), {
    what: 'dispatch gives one of them up',
  })
  door.heal()
  await settlesOne(house, worker)
})

describe('a worker that is told to end while the service hangs', () => {
  const config = { service: { timeoutMs: 60_000 }, ...timed({ lifetimeMs: 125_000 }) }
  const hang = async (house: House) => {
    house.sandbox.faults.set([{ match: { method: 'POST' }, action: { kind: 'hang-after' } }])
    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    await until(() => house.sandbox.users.get('c'))
  }
  const row = async ({ db }: House) =>
    (await db.sql(`SELECT unknown, call_token FROM rollcall.owed WHERE key = 'c'`)).rows[0]

  eachLane('and its queue is silent', (lane) => {
    test('breaks the calls off, stores that their outcome is unknown, and ends', async () => {
      await using house = await buildHouse(lane, { config })
      await using door = await makeRelay(house.queueUrl)
      await door.open()
      await using worker = await start(house, { QUEUE_URL: door.url })
      await hang(house)
      door.hush()
      await house.sql(`INSERT INTO clientes (id, plan) VALUES ('d', 'premium')`)
      await until(async () => (await house.sql(`SELECT FROM rollcall.owed WHERE key = 'd'`)).rowCount === 1)
      worker.kill('SIGTERM')
      let ended: unknown = null
      void worker.exited.then((exit) => (ended = exit))
      await until(() => ended !== null, { what: 'the worker has ended' })
      expect(ended).toEqual(GOOD_ORDER)
      expect(await row(house)).toEqual({ unknown: true, call_token: null })
    })
  })

  test('ends at once at the second signal, and what it had under way is looked up later', async () => {
    await using house = await buildHouse(anyLane, { config })
    await using worker = await start(house, {})
    await hang(house)
    worker.kill('SIGTERM')
    await until(() => worker.output().includes('stopping'))
    worker.kill('SIGTERM')
    expect(await worker.exited).toEqual({ code: 143, signal: null })
    expect(await row(house)).toEqual({ unknown: false, call_token: expect.anything() })
  })
})
