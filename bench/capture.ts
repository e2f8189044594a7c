// What capture costs the writer: a 100,000-row UPDATE of a mapped column, of an unmapped column, and single
// rows, with and without the triggers, side by side in one run. Needs DATABASE_URL of a server where databases
// may be created; everything happens in a database of its own, which is dropped at the end.
//
//   DATABASE_URL=postgres://… node bench/capture.ts
import pg from 'pg'
import { install, uninstall } from '../src/capture/install.ts'
import { drainOutbox } from '../src/capture/outbox.ts'
import type { CapturePlan } from '../src/capture/relations.ts'
import { migrate } from '../src/ledger/migrate.ts'

const ROWS = 100_000
const ROUNDS = 7
const SINGLES = 2_000
const NAME = `rollcall_bench_${process.pid}`

const customers = { schema: 'public', name: 'customers' }
const plan: CapturePlan = {
  watchers: [
    {
      relation: customers,
      key: ['id'],
      columns: ['birthdate', 'email', 'first_name', 'last_name', 'phone', 'plan'],
      deletionLane: 0,
      tables: [customers],
      missing: [],
    },
  ],
  gone: [],
  outboxLimitMb: 4096,
}

const WORK = {
  'update of a mapped column': (client: pg.Client, round: number) =>
    client.query('UPDATE customers SET plan = $1', [`plan-${round}-${Math.random()}`]),
  'update of an unmapped column': (client: pg.Client, round: number) =>
    client.query('UPDATE customers SET note = $1', [`note-${round}`]),
  [`${SINGLES} updates of one row`]: async (client: pg.Client, round: number) => {
    for (let i = 1; i <= SINGLES; i += 1) {
      await client.query('UPDATE customers SET plan = $2 WHERE id = $1', [
        i,
        `single-${round}-${Math.random()}`,
      ])
    }
  },
}

await withDatabase(async (url) => {
  const client = new pg.Client({ connectionString: url })
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  await client.connect()
  try {
    await prepare(client)
    const times = new Map<string, number[]>()
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const mode of ['without capture', 'with capture'] as const) {
        if (mode === 'with capture') await install(client, plan)
        for (const [name, work] of Object.entries(WORK)) {
          const took = await timed(() => work(client, round))
          times.set(`${name}, ${mode}`, [...(times.get(`${name}, ${mode}`) ?? []), took])
          await quiet(client, pool)
        }
        if (mode === 'with capture') await uninstall(client)
      }
    }
    for (const [name, all] of [...times].sort())
      process.stdout.write(`${name}: ${median(all).toFixed(0)} ms\n`)
  } finally {
    await client.end()
    await pool.end()
  }
})

async function prepare(client: pg.Client): Promise<void> {
  await migrate(client)
  await client.query(`
    CREATE TABLE customers (id bigint PRIMARY KEY, email text, first_name text, last_name text, phone text,
      birthdate date, plan text, note text) WITH (fillfactor = 50, autovacuum_enabled = off);
    INSERT INTO customers SELECT i, 'ana' || i || '@example.com', 'Ana', 'García ' || i, '600' || i,
      date '1980-01-01' + i % 9000, 'free', NULL FROM generate_series(1, ${ROWS}) i`)
}

/** Every measurement begins with an empty outbox and no dead rows. */
async function quiet(client: pg.Client, pool: pg.Pool): Promise<void> {
  while ((await drainOutbox(pool, async () => undefined, 50_000)) > 0);
  await client.query('VACUUM customers')
  await client.query('VACUUM rollcall.outbox')
  await client.query('CHECKPOINT')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function withDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const server = process.env.DATABASE_URL
  if (!server) throw new Error('Set DATABASE_URL to a server where databases may be created.')
  const url = new URL(server)
  url.pathname = `/${NAME}`
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  try {
    await admin.query(`CREATE DATABASE ${NAME}`)
    await work(url.href)
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${NAME} WITH (FORCE)`)
    await admin.end()
  }
}
