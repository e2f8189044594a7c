// A backlog of backfill and, while it is worked off, live changes: how fast the one goes, and how long the others take
// from commit to the request's arrival at the service.
// Run: npm run bench -- overtaking [customers] [ceiling] [latency of the service in ms]
import { setTimeout as sleep } from 'node:timers/promises'
import { noteGently } from '../src/ledger/note-unchanged.ts'
import { LANE } from '../src/model/customer.ts'
import { type BenchHouse, buildBenchHouse, delayOf, insertUncaptured } from './house.ts'
import { numbers, publish, quantile } from './results.ts'

const [customers, ceiling, latencyMs] = numbers([20_000, 2000, 0], [3000, 2000, 0])
const LIVE = 10

const rows: (string | number)[][] = []
for (const queue of ['redis', 'postgres'] as const) {
  await using house = await buildBenchHouse({ queue, ceiling, concurrency: 50, latencyMs })
  const started = performance.now()
  await owe(house)
  const waits: number[] = []
  for (let i = 1; i <= LIVE; i++) {
    while ((await house.service.counts()).users < (customers * i) / (LIVE + 2)) await sleep(5)
    waits.push(await delayOf(house, `live${i}`))
  }
  while ((await house.service.counts()).users < customers + 1 + LIVE) await sleep(20)
  const seconds = (performance.now() - started) / 1000
  rows.push([queue, customers / seconds, quantile(waits, 0.5), quantile(waits, 1)])
}
publish({
  name: 'overtaking',
  about: `Live changes during a backfill of ${customers} customers`,
  columns: [
    { title: '' },
    { title: 'backfill, users/s' },
    ...['median', 'longest'].map((which) => ({ title: `a live change, ${which}`, unit: 'ms' })),
  ],
  rows,
})

/** Behind the back of capture, in the lane of a backfill. */
async function owe({ pool }: BenchHouse): Promise<void> {
  await insertUncaptured(pool, customers)
  for (let from = 1; from <= customers; from += 1000)
    await noteGently(
      pool,
      Array.from({ length: Math.min(1000, customers - from + 1) }, (_, i) => `k${from + i}`),
      LANE.backfill,
    )
}
