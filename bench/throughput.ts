// New customers per second on both queues beside a bare loop of got, alternately in one run: a bulk INSERT until every one
// is at the service; CPU of the worker for each, and its peak of memory.
// Run: npx node bench/throughput.ts [customers] [rounds] [concurrency]
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBenchHouse, insertCustomers, quantile } from './house.ts'
import { bareLoop, startService, usageOf } from './service.ts'

const customers = Number(process.argv[2] ?? 5000)
const rounds = Number(process.argv[3] ?? 3)
const concurrency = process.argv[4] ? Number(process.argv[4]) : undefined
const measured = { bare: [] as number[], redis: [] as number[], postgres: [] as number[] }

for (let round = 1; round <= rounds; round++) {
  {
    await using service = await startService()
    tell('bare', await bareLoop(service, customers, concurrency ?? 20), '')
  }
  for (const queue of ['redis', 'postgres'] as const) {
    await using house = await buildBenchHouse({
      queue,
      ceiling: 5000,
      ...(concurrency ? { concurrency } : {}),
    })
    const statements = async () =>
      (await house.pool.query('SELECT sum(xact_commit)::int AS n FROM pg_stat_database')).rows[0].n as number
    const before = { cpu: usageOf(house.worker).cpu, statements: await statements() }
    const started = performance.now()
    await insertCustomers(house.pool, 1, customers)
    while ((await house.service.told()).users < customers + 1) await sleep(50)
    const seconds = (performance.now() - started) / 1000
    await sleep(1200) // the server tells its statistics late
    const { cpu, resident } = usageOf(house.worker)
    const each = (1000 * (cpu - before.cpu)) / customers
    const commits = ((await statements()) - before.statements) / customers
    const { calls } = await house.service.told()
    tell(
      queue,
      customers / seconds,
      `${each.toFixed(2)} ms CPU and ${commits.toFixed(2)} transactions each, ${resident} MiB, ${calls - 1} calls`,
    )
  }
}
const bare = quantile(measured.bare, 0.5)
for (const [name, rates] of Object.entries(measured)) {
  const median = quantile(rates, 0.5)
  say(`${name}: median ${Math.round(median)} users/s, ${(median / bare).toFixed(2)} of the bare loop`)
}

function tell(name: keyof typeof measured, rate: number, more: string): void {
  measured[name].push(rate)
  say(`${name.padEnd(9)}${Math.round(rate)} users/s  ${more}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
