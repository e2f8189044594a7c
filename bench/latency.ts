// From commit to the request's arrival at the service on both queue backends in one run: beside nothing else, beside other
// changes, and while `rollcall drift` checks all customers.
// Run: npm run bench -- latency [samples] [customers]
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchHouse, buildBenchHouse, delayOf, insertCustomers } from './house.ts'
import { numbers, publish, quantile } from './results.ts'

const [samples, customers] = numbers([100, 3000], [20, 1500])
/** Changes a second beside the samples; GETs a second of the run, which has to take longer than the samples do. */
const RATE = 50

const rows: (string | number)[][] = []
for (const queue of ['redis', 'postgres'] as const) {
  await using house = await buildBenchHouse({ queue, ceiling: 500 })
  await insertCustomers(house.pool, 1, customers)
  while ((await house.service.counts()).users <= customers) await sleep(100)
  tell(queue, await delaysOf(house, 'a'))
  {
    using _changes = changing(house)
    tell(`${queue}, beside ${RATE} changes a second`, await delaysOf(house, 'c'))
  }
  const run = house.start(['drift', '--rate', String(RATE)])
  while ((await countChecked(house)) === 0 && run.exitCode === null) await sleep(50)
  tell(`${queue}, while \`rollcall drift\` makes ${RATE} GETs a second`, await delaysOf(house, 'b'))
  if (run.exitCode !== null) throw new Error('the run ended before the samples: give more customers')
}
publish({
  name: 'latency',
  about: `From commit to request: ${samples} new customers, four a second`,
  columns: [{ title: '' }, ...['median', '99 %', 'longest'].map((title) => ({ title, unit: 'ms' }))],
  rows,
})

/** Changes customers at random, until it is disposed. */
function changing({ pool }: BenchHouse): Disposable {
  const timer = setInterval(() => {
    const id = `k${1 + Math.floor(Math.random() * customers)}`
    void pool.query('UPDATE customers SET email = $2 WHERE id = $1', [id, `${randomUUID()}@example.com`])
  }, 1000 / RATE)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

async function countChecked({ pool }: BenchHouse): Promise<number> {
  const { rows } = await pool.query('SELECT count(checked_at)::int AS checked FROM rollcall.ledger')
  return rows[0].checked
}

async function delaysOf(house: BenchHouse, prefix: string): Promise<readonly number[]> {
  const delays: number[] = []
  for (let i = 0; i < samples; i++) {
    delays.push(await delayOf(house, `${prefix}${i}`))
    await sleep(150 + Math.random() * 200)
  }
  return delays
}

function tell(what: string, delays: readonly number[]): void {
  rows.push([what, ...[0.5, 0.99, 1].map((share) => quantile(delays, share))])
}
