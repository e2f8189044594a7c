// A backlog of backfill and, while it is worked off, live changes: how fast the one goes, and how long the others take
// from commit to the request's arrival at the service.
// Run: npm run bench -- overtaking [rows] [ceiling] [latency of the service in ms]
import { setTimeout as sleep } from 'node:timers/promises'
import { noteGently } from '../src/ledger/note-unchanged.ts'
import { LANE } from '../src/model/customer.ts'
import { type BenchHouse, buildBenchHouse, insertCustomers, quantile } from './house.ts'

const rows = Number(process.argv[2] ?? 20_000)
const ceiling = Number(process.argv[3] ?? 2000)
const latencyMs = Number(process.argv[4] ?? 0)
const LIVE = 10

for (const queue of ['redis', 'postgres'] as const) {
  await using house = await buildBenchHouse({ queue, ceiling, concurrency: 50, latencyMs })
  const started = performance.now()
  await owe(house)
  const waits: number[] = []
  for (let i = 1; i <= LIVE; i++) {
    while ((await house.service.counts()).users < (rows * i) / (LIVE + 2)) await sleep(5)
    waits.push(await liveChange(house, `live${i}`))
  }
  while ((await house.service.counts()).users < rows + 1 + LIVE) await sleep(20)
  const seconds = (performance.now() - started) / 1000
  process.stdout.write(
    `${queue}: ${rows} customers in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} a second; a live change: median ${quantile(waits, 0.5)} ms, longest ${quantile(waits, 1)} ms\n`,
  )
}

/** Behind the back of capture, in the lane of a backfill. */
async function owe({ pool }: BenchHouse): Promise<void> {
  await pool.query('ALTER TABLE customers DISABLE TRIGGER USER')
  await insertCustomers(pool, 1, rows)
  await pool.query('ALTER TABLE customers ENABLE TRIGGER USER')
  for (let from = 1; from <= rows; from += 1000)
    await noteGently(
      pool,
      Array.from({ length: Math.min(1000, rows - from + 1) }, (_, i) => `k${from + i}`),
      LANE.backfill,
    )
}

async function liveChange({ pool, service }: BenchHouse, id: string): Promise<number> {
  await pool.query(`INSERT INTO customers (id, plan) VALUES ($1, 'premium')`, [id])
  const committed = Date.now()
  for (;;) {
    const arrived = await service.arrived(id)
    if (arrived !== null) return arrived - committed
    await sleep(5)
  }
}
