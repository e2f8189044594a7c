// How fast a backfill plans, with how much memory and how many statements: all customers are new (a dry run), no call is
// needed, all differ (a dry run, and marked as owed).
// Run: npm run bench -- backfill [customers]
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { install } from '../src/capture/install.ts'
import { planCapture } from '../src/capture/relations.ts'
import { databaseAt } from '../src/database/session.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { BIN, CONFIG, insertCustomers, KEYS, MAPPED, startServers } from './house.ts'
import { numbers, publish } from './results.ts'
import { settleAll } from './settled.ts'

/** Tells at the end the most memory that the process has had, in KiB, and its processor time, in microseconds. */
const TELL = `data:text/javascript,process.on('exit',()=>{const u=process.resourceUsage();process.stderr.write('\\nused '+u.maxRSS+' '+(u.userCPUTime+u.systemCPUTime)+'\\n')})`

const [customers] = numbers([100_000], [10_000])
const results: (string | number)[][] = []
await measure(customers)
publish({
  name: 'backfill',
  about: 'Planning of a backfill, its start included',
  columns: [
    { title: '' },
    ...['customers', 'differ'].map((title) => ({ title })),
    ...['time', 'CPU'].map((title) => ({ title, digits: 1, unit: 's' })),
    { title: 'customers/s' },
    { title: 'memory', unit: 'MiB' },
    { title: 'transactions each', digits: 4 },
  ],
  rows: results,
})

async function measure(customers: number): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const { pool, url } = stack.use(await startServers())
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(MAPPED)}`)
  await insertCustomers(pool, 1, customers)
  await pool.query('VACUUM ANALYZE customers')
  const of = { pool, folder, url, customers }
  await backfill(of, 'dry run, all new', ['--dry-run'])

  await migrate(databaseAt(url))
  const client = await pool.connect()
  await install(client, await planCapture(client, CONFIG))
  client.release()
  await settleAll(url, CONFIG)
  await backfill(of, 'no call is needed', [])
  await pool.query(`UPDATE rollcall.ledger SET remote = 'absent'`)
  await pool.query('VACUUM ANALYZE')
  await backfill(of, 'dry run, all differ', ['--mapping', '--dry-run'])
  await backfill(of, 'all differ', ['--mapping'])
}

type Of = {
  readonly pool: pg.Pool
  readonly folder: string
  readonly url: string
  readonly customers: number
}

/** Its start is part of the time; statements are counted as transactions, since each is one. */
async function backfill({ pool, folder, url, customers }: Of, what: string, args: readonly string[]) {
  const before = await transactions(pool)
  const started = performance.now()
  const child = spawn(
    process.execPath,
    [
      ...(process.env.BENCH_NODE ?? '').split(' ').filter(Boolean),
      '--import',
      TELL,
      BIN,
      'backfill',
      ...args,
      '--json',
    ],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        DATABASE_URL: url,
        SERVICE_URL: 'http://127.0.0.1:1',
        SERVICE_API_KEY: KEYS.apiKey,
        ROLLCALL_DIGEST_KEY: KEYS.digestKey,
      },
    },
  )
  let [out, errors] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  const code = await new Promise((resolve) => child.once('close', resolve))
  const seconds = (performance.now() - started) / 1000
  if (code !== 0 && code !== 3) throw new Error(errors)
  const [, peak, processor] = /used (\d+) (\d+)/.exec(errors) ?? []
  const { verdicts } = JSON.parse(out)
  const statements = (await transactions(pool)) - before
  const [cpu, mib] = [Number(processor) / 1e6, Number(peak) / 1024]
  results.push([
    what,
    customers,
    verdicts.differs,
    seconds,
    cpu,
    customers / seconds,
    mib,
    statements / customers,
  ])
}

async function transactions(pool: pg.Pool): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()')
  const { rows } = await pool.query<{ n: number }>(
    'SELECT (xact_commit + xact_rollback)::float8 AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  return rows[0]?.n ?? 0
}
