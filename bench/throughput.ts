// New customers per second: rollcall on both queues beside a bare loop of got and the pipelines of pipelines/, alternately
// in one run. A bulk INSERT until every one is at the service; CPU for each, and the worker's peak of memory.
// Run: npm run bench -- throughput [customers] [rounds] [concurrency]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  buildBenchHouse,
  insertCustomers,
  quantile,
  type Servers,
  startServers,
  usageOfPostgres,
} from './house.ts'
import { bareLoop, startService, usageOf } from './service.ts'

const customers = Number(process.argv[2] ?? 5000)
const rounds = Number(process.argv[3] ?? 3)
/** Calls at once; default: rollcall's own, for all. */
const concurrency = Number(process.argv[4] ?? 100)

type Measured = {
  readonly rate: number
  readonly worker: number
  readonly postgres: number
  readonly commits: number
  readonly mib: number
}

const BY_HAND = ['p-limit', 'bullmq', 'pg-boss', 'graphile-worker'] as const
const PIPELINE = fileURLToPath(new URL('pipelines/pipeline.mjs', import.meta.url))

const bare: number[] = []
const measured = new Map<string, Measured[]>()
for (let round = 1; round <= rounds; round++) {
  {
    await using service = await startService()
    bare.push(await bareLoop(service, customers, concurrency))
  }
  for (const name of BY_HAND) keep(`${name} by hand`, await byHand(name))
  for (const queue of ['redis', 'postgres'] as const) keep(`rollcall, ${queue}`, await ours(queue))
}
const best = quantile(bare, 0.5)
say(`${customers} customers, ${rounds} rounds, ${concurrency} calls at once; medians (least to most)`)
say('| | users/s | of the bare loop | CPU of the worker | of Postgres | commits each | memory |')
say('|---|---|---|---|---|---|---|')
say(`| bare loop of got | ${spread(bare)} | 1.00 | ${(1000 / best).toFixed(2)} ms | | | |`)
for (const [name, rows] of measured) {
  const median = (pick: (row: Measured) => number) => quantile(rows.map(pick), 0.5)
  const rates = rows.map(({ rate }) => rate)
  const [worker, postgres] = [median((row) => row.worker), median((row) => row.postgres)]
  say(
    `| ${name} | ${spread(rates)} | ${(quantile(rates, 0.5) / best).toFixed(2)} | ${worker.toFixed(2)} ms | ${postgres.toFixed(2)} ms | ${median((row) => row.commits).toFixed(2)} | ${median((row) => row.mib)} MiB |`,
  )
}

async function byHand(name: string): Promise<Measured> {
  await using servers = await startServers()
  const { url, redisUrl, service } = servers
  const script = name === 'p-limit'
  if (script) await insertCustomers(servers.pool, 1, customers)
  const env = { ...process.env, DATABASE_URL: url, REDIS_URL: redisUrl, SERVICE_URL: service.url }
  const child = fork(PIPELINE, [name], { env: { ...env, CONCURRENCY: String(concurrency) } })
  await once(child, 'message')
  const result = await measure(servers, child, customers, !script)
  const closed = once(child, 'close')
  child.kill()
  await closed
  return result
}

async function ours(queue: 'redis' | 'postgres'): Promise<Measured> {
  await using house = await buildBenchHouse({ queue, ceiling: 5000, concurrency })
  return await measure(house, house.worker, customers + 1, true)
}

/** Until so many users are there. `inserts`: the customers come now. */
async function measure(
  { pool, service }: Pick<Servers, 'pool' | 'service'>,
  worker: ChildProcess,
  users: number,
  inserts: boolean,
): Promise<Measured> {
  const usage = async () => {
    const { rows } = await pool.query('SELECT sum(xact_commit)::int AS n FROM pg_stat_database')
    return { ...usageOf(worker), postgres: await usageOfPostgres(pool), commits: rows[0].n as number }
  }
  const before = await usage()
  const started = performance.now()
  if (inserts) await insertCustomers(pool, 1, customers)
  while ((await service.counts()).users < users) await sleep(20)
  const rate = (1000 * customers) / (performance.now() - started)
  await sleep(1200) // the server tells its statistics late
  const after = await usage()
  return {
    rate,
    worker: (1000 * (after.cpu - before.cpu)) / customers,
    postgres: (1000 * (after.postgres - before.postgres)) / customers,
    commits: (after.commits - before.commits) / customers,
    mib: after.resident,
  }
}

function keep(name: string, result: Measured): void {
  measured.set(name, [...(measured.get(name) ?? []), result])
  process.stderr.write(`${name}: ${Math.round(result.rate)} users/s\n`)
}

function spread(rates: readonly number[]): string {
  const [median, least, most] = [0.5, 0, 1].map((share) => Math.round(quantile(rates, share)))
  return `${median} (${least} to ${most})`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
