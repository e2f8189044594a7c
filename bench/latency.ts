// From commit to the request's arrival at the service on both queue backends in one run: beside nothing else, and while
// `rollcall drift` checks everybody.
// Run: npm run bench -- latency [samples] [customers who are checked]
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchHouse, buildBenchHouse, insertCustomers, quantile } from './house.ts'

const samples = Number(process.argv[2] ?? 100)
const customers = Number(process.argv[3] ?? 3000)
/** GETs a second of the run, which has to take longer than the samples do. */
const RATE = 50

for (const queue of ['redis', 'postgres'] as const) {
  await using house = await buildBenchHouse({ queue, ceiling: 500 })
  await insertCustomers(house.pool, 1, customers)
  while ((await house.service.counts()).users <= customers) await sleep(100)
  tell(`${queue}, alone`, await delaysOf(house, 'a'))
  const run = house.start(['drift', '--rate', String(RATE)])
  while ((await countChecked(house)) === 0 && run.exitCode === null) await sleep(50)
  tell(`${queue}, beside a run`, await delaysOf(house, 'b'))
  const { exitCode } = run
  process.stdout.write(
    `  ${await countChecked(house)} checked meanwhile${exitCode === null ? '' : '; the run has ended'}\n`,
  )
}

async function countChecked({ pool }: BenchHouse): Promise<number> {
  const { rows } = await pool.query('SELECT count(checked_at)::int AS checked FROM rollcall.ledger')
  return rows[0].checked
}

async function delaysOf({ pool, service }: BenchHouse, prefix: string): Promise<readonly number[]> {
  const delays: number[] = []
  for (let i = 0; i < samples; i++) {
    const id = `${prefix}${i}`
    await pool.query(`INSERT INTO customers (id, plan) VALUES ($1, 'premium')`, [id])
    const committed = Date.now()
    let arrived: number | null = null
    while (arrived === null) {
      await sleep(5)
      arrived = await service.arrived(id)
    }
    delays.push(arrived - committed)
    await sleep(150 + Math.random() * 200)
  }
  return delays
}

function tell(what: string, delays: readonly number[]): void {
  const [median, most, longest] = [0.5, 0.99, 1].map((share) => quantile(delays, share))
  process.stdout.write(
    `${what}: median ${median} ms, 99 % ${most} ms, longest ${longest} ms (${samples} samples)\n`,
  )
}
