// How long a bulk COPY of new customers takes until every one is at the service, on both queue backends.
// Run: npx node bench/throughput.ts [rows] [ceiling]
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBenchHouse } from './house.ts'

const rows = Number(process.argv[2] ?? 20_000)
const ceiling = Number(process.argv[3] ?? 5000)

for (const queue of ['redis', 'postgres'] as const) {
  await using house = await buildBenchHouse({ queue, ceiling, concurrency: 100 })
  const started = performance.now()
  await house.pool.query(
    `INSERT INTO customers SELECT 'k' || i, 'premium', 'k' || i || '@example.com' FROM generate_series(1, $1::int) i`,
    [rows],
  )
  const inserted = performance.now() - started
  while (house.sandbox.users.size < rows + 1) await sleep(50)
  const seconds = (performance.now() - started) / 1000
  process.stdout.write(
    `${queue}: ${rows} rows written in ${Math.round(inserted)} ms, all at the service after ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} users/s, ${house.sandbox.journal.last - 1} calls\n`,
  )
}
