// A worker for many minutes: live changes at a steady rate, checks beside them. Memory, tables, queue and latency are
// sampled, drawn as a picture, and compared between the first and the last third.
// Run: npm run soak -- [--minutes 30] [--rate 50] [--customers 20000] [--out docs/soak.svg]
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { buildBenchHouse, delayOf, insertCustomers, usageOfPostgres } from './house.ts'
import { drawSeries } from './picture.ts'
import { publish, quantile } from './results.ts'
import { cpuOf, residentOf } from './service.ts'

const { values: given } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '50' },
    customers: { type: 'string', default: '20000' },
    out: { type: 'string' },
  },
})
const [minutes, rate, customers] = [given.minutes, given.rate, given.customers].map(Number) as [
  number,
  number,
  number,
]
const SAMPLE_MS = Math.min(10_000, minutes * 1000)

await using house = await buildBenchHouse({ queue: 'redis', ceiling: 1000, checks: true })
const { pool, service, worker, redisUrl } = house
await insertCustomers(pool, 1, customers)
while ((await service.counts()).users <= customers) await sleep(100)
const redis = new Redis(redisUrl)
const series = {
  'latency, median (ms)': [] as number[],
  'latency, 95 % (ms)': [] as number[],
  'memory of the worker (MiB)': [] as number[],
  'CPU of the worker (% of a core)': [] as number[],
  'CPU of Postgres (% of a core)': [] as number[],
  'owed and its indexes (MiB)': [] as number[],
  'ledger and its indexes (MiB)': [] as number[],
  'outbox and log of calls (MiB)': [] as number[],
  'memory of Redis (MiB)': [] as number[],
  'owed customers': [] as number[],
}
const delays: number[] = []
const started = performance.now()
const end = started + minutes * 60_000
const stop = new AbortController()
await Promise.all([write(), probe(), sample()])
redis.disconnect()

const third = Math.max(1, Math.floor(series['owed customers'].length / 3))
publish({
  name: 'soak',
  about: `${minutes} minutes, ${rate} changes a second of ${customers} customers, checks beside them`,
  columns: [{ title: '' }, { title: 'first third', digits: 1 }, { title: 'last third', digits: 1 }],
  rows: Object.entries(series).map(([name, values]) => [
    name,
    quantile(values.slice(0, third), 0.5),
    quantile(values.slice(-third), 0.5),
  ]),
})
if (given.out) await writeFile(given.out, drawSeries(series, SAMPLE_MS / 60_000))

/** Updates, and now and then a deletion and the same customer again. */
async function write(): Promise<void> {
  for (let n = 0; performance.now() < end; n++) {
    const id = `k${1 + Math.floor(Math.random() * customers)}`
    if (n % 50 === 0) {
      await pool.query('DELETE FROM customers WHERE id = $1', [id])
      await insertCustomers(pool, Number(id.slice(1)), Number(id.slice(1)))
    } else await pool.query('UPDATE customers SET email = $2 WHERE id = $1', [id, `m${n}.${id}@example.com`])
    const wait = started + (1000 * n) / rate - performance.now()
    if (wait > 0) await sleep(wait)
  }
  stop.abort()
}

async function probe(): Promise<void> {
  for (let n = 0; !stop.signal.aborted; n++) {
    delays.push(await delayOf(house, `p${n}`))
    await sleep(400 + Math.random() * 200)
  }
}

async function sample(): Promise<void> {
  let cpu = cpuOf(worker.pid ?? 0) ?? 0
  let postgres = await usageOfPostgres(pool)
  for (let at = performance.now(); !stop.signal.aborted; ) {
    await sleep(SAMPLE_MS)
    const now = performance.now()
    const percent = (before: number, after: number) => (100_000 * (after - before)) / (now - at)
    const [nowCpu, nowPostgres] = [cpuOf(worker.pid ?? 0) ?? 0, await usageOfPostgres(pool)]
    const { rows } = await pool.query(
      `SELECT pg_total_relation_size('rollcall.owed') / 1048576.0 AS owed,
         pg_total_relation_size('rollcall.ledger') / 1048576.0 AS ledger,
         (pg_total_relation_size('rollcall.outbox') + pg_total_relation_size('rollcall.call')) / 1048576.0 AS logs,
         (SELECT count(*) FROM rollcall.owed WHERE due_at IS NOT NULL) AS due`,
    )
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]) / 1_048_576
    const last = delays.splice(0)
    const { owed, ledger, logs, due } = rows[0]
    const values = [
      ...[quantile(last, 0.5), quantile(last, 0.95), residentOf(worker)],
      ...[percent(cpu, nowCpu), percent(postgres, nowPostgres), owed, ledger, logs, used, due],
    ]
    for (const [i, list] of Object.values(series).entries()) list.push(Number(values[i]))
    ;[at, cpu, postgres] = [now, nowCpu, nowPostgres]
  }
}
