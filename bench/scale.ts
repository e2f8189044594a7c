// The cost of a change beside 10,000 to 1,000,000 customers, in new tables and in tables that millions of syncs have used;
// and the sizes of the tables.
// Run: npm run bench -- scale [fewest customers] [more] [most] [changes] [syncs that age the tables]
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { buildBenchHouse, insertUncaptured, usageOfPostgres } from './house.ts'
import { numbers, publish } from './results.ts'
import { usageOf } from './service.ts'
import { age, settleAll } from './settled.ts'

const [few, more, most, changes, syncs] = numbers(
  [10_000, 100_000, 1_000_000, 5000, 2_000_000],
  [2000, 5000, 10_000, 1000, 10_000],
)
const ROUNDS = 3

const rows: (string | number | number[])[][] = []
for (const customers of [few, more, most]) await measure(customers, 0)
await measure(more, syncs)
publish({
  name: 'scale',
  about: `${changes} changes of customers at random, ${ROUNDS} rounds; CPU and WAL are for each change`,
  columns: [
    { title: 'customers' },
    { title: 'syncs before' },
    { title: 'changes/s' },
    ...['worker', 'Postgres'].map((which) => ({ title: `CPU of ${which}`, digits: 2, unit: 'ms' })),
    { title: 'WAL', digits: 1, unit: 'KiB' },
    { title: 'memory', unit: 'MiB' },
    ...['owed', 'its indexes', 'ledger', 'its indexes', 'a call in the log'].map((title) => ({
      title,
      unit: 'bytes',
    })),
  ],
  rows,
})

async function measure(customers: number, before: number): Promise<void> {
  await using house = await buildBenchHouse({
    queue: 'redis',
    ceiling: 5000,
    allKnown: true,
    async prepare({ pool, url, service }, config) {
      await insertUncaptured(pool, customers)
      await pool.query('VACUUM ANALYZE customers')
      await settleAll(url, config)
      if (before === 0) return
      const started = performance.now()
      await age(pool, config, service.url, before)
      const rate = (1000 * before) / (performance.now() - started)
      process.stderr.write(`${Math.round(rate)} syncs a second without calls\n`)
    },
  })
  const { pool, service, worker } = house
  const [rates, ofWorker, ofPostgres, wal]: number[][] = [[], [], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    const { calls } = await service.counts()
    const { lsn } = (await pool.query('SELECT pg_current_wal_lsn()::text AS lsn')).rows[0]
    const [cpu, postgres] = [usageOf(worker).cpu, await usageOfPostgres(pool)]
    const started = performance.now()
    await change(pool, customers)
    while ((await service.counts()).calls < calls + changes) await sleep(20)
    rates?.push((1000 * changes) / (performance.now() - started))
    await sleep(1200) // its endings
    ofWorker?.push((1000 * (usageOf(worker).cpu - cpu)) / changes)
    const written = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::float8 AS bytes`
    wal?.push((await pool.query(written, [lsn])).rows[0].bytes / 1024 / changes)
    ofPostgres?.push((1000 * ((await usageOfPostgres(pool)) - postgres)) / changes)
  }
  const cells = [rates ?? [], ofWorker ?? [], ofPostgres ?? [], wal ?? [], usageOf(worker).resident]
  rows.push([customers, before, ...cells, ...(await sizes(pool, customers))])
}

async function change(pool: pg.Pool, customers: number): Promise<void> {
  const picked = new Set<string>()
  while (picked.size < changes) picked.add(`k${1 + Math.floor(Math.random() * customers)}`)
  await pool.query('UPDATE customers SET email = $2 || email WHERE id = ANY($1)', [
    [...picked],
    String.fromCharCode(97 + Math.random() * 26),
  ])
}

/** Bytes for each customer: of the rows and of the indexes of `owed` and `ledger`; and for each call in the log. */
async function sizes(pool: pg.Pool, customers: number): Promise<number[]> {
  const { rows } = await pool.query<{ table: number; indexes: number }>(
    `SELECT pg_table_size(t)::float8 AS table, pg_indexes_size(t)::float8 AS indexes
     FROM unnest('{rollcall.owed,rollcall.ledger}'::regclass[]) AS t`,
  )
  const log = await pool.query<{ each: number }>(
    `SELECT pg_total_relation_size('rollcall.call')::float8 / count(*) AS each FROM rollcall.call`,
  )
  const calls = log.rows.map(({ each }) => each)
  return [...rows.flatMap(({ table, indexes }) => [table / customers, indexes / customers]), ...calls]
}
