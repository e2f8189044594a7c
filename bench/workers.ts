// New customers per second with one, two and four workers, at a service that takes 50 ms for an answer.
// Run: npm run bench -- workers [customers] [rounds]
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBenchHouse, insertCustomers, usageOfPostgres } from './house.ts'
import { numbers, publish } from './results.ts'
import { usageOf } from './service.ts'

const [customers, rounds] = numbers([6000, 3], [2000, 1])
const LATENCY_MS = 50

const measured = new Map<string, { rates: number[]; worker: number[]; postgres: number[] }>()
for (let round = 0; round < rounds; round++)
  for (const queue of ['redis', 'postgres'] as const)
    for (const workers of [1, 2, 4]) await measure(queue, workers)
publish({
  name: 'workers',
  about: `${customers} new customers, ${rounds} rounds, a service that answers after ${LATENCY_MS} ms; CPU is for each customer`,
  columns: [
    { title: 'workers' },
    { title: 'users/s' },
    ...['the workers', 'Postgres'].map((which) => ({ title: `CPU of ${which}`, digits: 2, unit: 'ms' })),
  ],
  rows: [...measured].map(([which, { rates, worker, postgres }]) => [which, rates, worker, postgres]),
})

async function measure(queue: 'redis' | 'postgres', workers: number): Promise<void> {
  await using house = await buildBenchHouse({ queue, ceiling: 5000, latencyMs: LATENCY_MS })
  const { pool, service } = house
  const all = [house.worker]
  for (let i = 1; i < workers; i++) all.push(house.start(['worker']))
  await sleep(3000) // they have started
  const cpu = () => all.reduce((sum, each) => sum + usageOf(each).cpu, 0)
  const [ofWorkers, ofPostgres] = [cpu(), await usageOfPostgres(pool)]
  const started = performance.now()
  await insertCustomers(pool, 1, customers)
  while ((await service.counts()).users < customers + 1) await sleep(20)
  const seconds = (performance.now() - started) / 1000
  await sleep(1200) // its endings
  const which = `${workers}, ${queue}`
  const values = measured.get(which) ?? { rates: [], worker: [], postgres: [] }
  values.rates.push(customers / seconds)
  values.worker.push((1000 * (cpu() - ofWorkers)) / customers)
  values.postgres.push((1000 * ((await usageOfPostgres(pool)) - ofPostgres)) / customers)
  measured.set(which, values)
}
