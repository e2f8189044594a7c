// Checks a second (a GET, and the comparison with the desired user): `rollcall drift` beside a bare loop of GETs with got,
// alternately in one run.
// Run: npm run bench -- checks [customers] [rounds]
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBenchHouse, insertCustomers } from './house.ts'
import { numbers, publish, quantile } from './results.ts'
import { bareGets } from './service.ts'

const [customers, rounds] = numbers([5000, 3], [1000, 1])
const CONCURRENCY = 400

await using house = await buildBenchHouse({ queue: 'redis', ceiling: 5000 })
const { pool, service } = house
await insertCustomers(pool, 1, customers)
while ((await service.counts()).users <= customers) await sleep(100)
// A GET may show an old state for a while after a write, so a run would wait for some of them.
await sleep(6000)
const [bare, ours]: [number[], number[]] = [[], []]
for (let round = 0; round < rounds; round++) {
  bare.push(await bareGets(service, customers, CONCURRENCY))
  ours.push(await run())
}
publish({
  name: 'checks',
  about: `Checks: ${customers} customers, ${rounds} rounds, ${CONCURRENCY} calls at once`,
  columns: [{ title: '' }, { title: 'users/s' }, { title: 'of the bare loop', digits: 2 }],
  rows: [
    ['bare loop of got', bare, 1],
    ['rollcall drift', ours, quantile(ours, 0.5) / quantile(bare, 0.5)],
  ],
})

/** From its first call to its last. */
async function run(): Promise<number> {
  const { calls } = await service.counts()
  const child = house.start(['drift', '--rate', '5000', '--restart'], 'inherit')
  const ended = once(child, 'close')
  while ((await service.counts()).calls === calls && child.exitCode === null) await sleep(5)
  const started = performance.now()
  let last = started
  for (let made = 0; child.exitCode === null; await sleep(5)) {
    const now = (await service.counts()).calls - calls
    if (now > made) last = performance.now()
    made = now
    if (made >= customers) break
  }
  await ended
  if (child.exitCode !== 0) throw new Error(`the run ended with ${child.exitCode}`)
  return (1000 * customers) / (last - started)
}
