// From commit to the request's arrival at the service, worker idle, on both queue backends in one run.
// Run: npx node bench/latency.ts [samples]
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBenchHouse, quantile } from './house.ts'

const samples = Number(process.argv[2] ?? 100)

for (const queue of ['redis', 'postgres'] as const) {
  await using house = await buildBenchHouse({ queue })
  const delays: number[] = []
  for (let i = 0; i < samples; i++) {
    const id = `c${i}`
    await house.pool.query(`INSERT INTO customers VALUES ($1, 'premium')`, [id])
    const committed = Date.now()
    while (house.sandbox.journal.list({ userId: id }).length === 0) await sleep(2)
    delays.push((house.sandbox.journal.list({ userId: id })[0]?.arrivedAt ?? Number.NaN) - committed)
    await sleep(150 + Math.random() * 200)
  }
  const figures = [0.5, 0.95, 1].map((share) => `${quantile(delays, share)} ms`)
  process.stdout.write(
    `${queue}: median ${figures[0]}, 95 % ${figures[1]}, longest ${figures[2]} (${samples} samples)\n`,
  )
}
