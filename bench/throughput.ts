// New customers per second: rollcall on both queues beside a bare loop of got and the pipelines of pipelines/, alternately
// in one run. Each but the script p-limit has handled some customers before, as a process that runs all the time. From the first INSERT until every one is at the service; CPU and bytes to Redis for each, and the worker's
// peak of memory. Two tables: all customers in one statement, and each in a transaction of its own, by eight writers.
// Run: npm run bench -- throughput [customers] [rounds] [concurrency] [customers before]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  buildBenchHouse,
  insertCustomers,
  type Servers,
  startServers,
  usageOfPostgres,
  usageOfRedis,
} from './house.ts'
import { numbers, publish, quantile } from './results.ts'
import { bareLoop, startService, usageOf } from './service.ts'

/** As many calls at once as rollcall makes by default, for all. `warmUp`: customers before the measurement. */
const [customers, rounds, concurrency, warmUp] = numbers([5000, 3, 400, 3000], [2000, 1, 400, 1000])

type Measured = {
  readonly rate: number
  readonly worker: number
  readonly postgres: number
  readonly redis: number
  readonly bytes: number
  readonly commits: number
  readonly mib: number
}

const BY_HAND = ['p-limit', 'bullmq', 'pg-boss', 'graphile-worker'] as const
const PIPELINE = fileURLToPath(new URL('pipelines/pipeline.mjs', import.meta.url))
const WRITERS = 8
/** Inserts customers from one number to another. */
type Insert = (pool: Servers['pool'], from: number, to: number) => Promise<unknown>

const bare: number[] = []
const bulk = new Map<string, Measured[]>()
const live = new Map<string, Measured[]>()
for (let round = 1; round <= rounds; round++) {
  {
    await using service = await startService()
    await bareLoop(service, warmUp, concurrency)
    bare.push(await bareLoop(service, customers, concurrency))
  }
  for (const [measured, insert] of [[bulk, insertCustomers] as const, [live, insertEach] as const]) {
    // The script goes once through all rows, so it has no live changes.
    for (const name of BY_HAND)
      if (name !== 'p-limit' || measured === bulk)
        keep(measured, `${name} by hand`, await byHand(name, insert))
    for (const queue of ['redis', 'postgres'] as const)
      keep(measured, `rollcall, ${queue}`, await ours(queue, insert))
  }
}
const of = `${customers}, ${rounds} rounds, ${concurrency} calls at once; CPU is for each customer`
show('throughput', `New customers in one statement: ${of}`, bulk)
show('live', `New customers one by one, ${WRITERS} writers: ${of}`, live)

function show(name: string, about: string, measured: ReadonlyMap<string, readonly Measured[]>): void {
  const best = quantile(bare, 0.5)
  publish({
    name,
    about,
    columns: [
      { title: '' },
      { title: 'users/s' },
      { title: 'of the bare loop', digits: 2 },
      { title: 'CPU of the worker', digits: 2, unit: 'ms' },
      { title: 'CPU of Postgres', digits: 2, unit: 'ms' },
      { title: 'CPU of Redis', digits: 2, unit: 'ms' },
      { title: 'transactions each', digits: 2 },
      { title: 'to Redis each', unit: 'bytes' },
      { title: 'memory', unit: 'MiB' },
    ],
    rows: [
      ['bare loop of got', bare, 1, 1000 / best, null, null, null, null, null],
      ...[...measured].map(([pipeline, results]) => {
        const rates = results.map(({ rate }) => rate)
        const each = (['worker', 'postgres', 'redis', 'commits', 'bytes', 'mib'] as const).map((name) =>
          quantile(
            results.map((row) => row[name]),
            0.5,
          ),
        )
        return [pipeline, rates, quantile(rates, 0.5) / best, ...each]
      }),
    ],
  })
}

async function insertEach(pool: Servers['pool'], from: number, to: number): Promise<void> {
  let next = from
  const write = async () => {
    while (next <= to) {
      const i = next++
      await insertCustomers(pool, i, i)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
}

async function byHand(name: string, insert: Insert): Promise<Measured> {
  await using servers = await startServers()
  const { url, redisUrl, service } = servers
  const script = name === 'p-limit'
  if (script) await insert(servers.pool, 1, customers)
  const env = { ...process.env, DATABASE_URL: url, REDIS_URL: redisUrl, SERVICE_URL: service.url }
  const child = fork(PIPELINE, [name], { env: { ...env, CONCURRENCY: String(concurrency) } })
  await once(child, 'message')
  const result = await measure(servers, child, script ? null : insert)
  const closed = once(child, 'close')
  child.kill()
  await closed
  return result
}

async function ours(queue: 'redis' | 'postgres', insert: Insert): Promise<Measured> {
  await using house = await buildBenchHouse({ queue, ceiling: 5000, concurrency })
  return await measure(house, house.worker, insert)
}

/** `insert`: null where the customers are there already. */
async function measure(
  { pool, redisUrl, service }: Pick<Servers, 'pool' | 'redisUrl' | 'service'>,
  worker: ChildProcess,
  insert: Insert | null,
): Promise<Measured> {
  const usage = async () => {
    const { rows } = await pool.query('SELECT sum(xact_commit)::int AS n FROM pg_stat_database')
    const [postgres, redis] = [await usageOfPostgres(pool), await usageOfRedis(redisUrl)]
    return { ...usageOf(worker), postgres, redis, commits: rows[0].n as number }
  }
  const users = async () => (await service.counts()).users
  const [already, warm] = insert ? [await users(), warmUp] : [0, 0]
  await insert?.(pool, 1, warm)
  while ((await users()) < already + warm) await sleep(20)
  if (insert) await sleep(1200) // what follows the last call
  const before = await usage()
  const started = performance.now()
  await insert?.(pool, warm + 1, warm + customers)
  while ((await users()) < already + warm + customers) await sleep(20)
  const rate = (1000 * customers) / (performance.now() - started)
  await sleep(1200) // the server tells its statistics late
  const after = await usage()
  return {
    rate,
    worker: (1000 * (after.cpu - before.cpu)) / customers,
    postgres: (1000 * (after.postgres - before.postgres)) / customers,
    redis: (1000 * (after.redis.cpu - before.redis.cpu)) / customers,
    bytes: (after.redis.bytes - before.redis.bytes) / customers,
    commits: (after.commits - before.commits) / customers,
    mib: after.resident,
  }
}

function keep(measured: Map<string, Measured[]>, name: string, result: Measured): void {
  measured.set(name, [...(measured.get(name) ?? []), result])
  process.stderr.write(`${name}: ${Math.round(result.rate)} users/s\n`)
}
