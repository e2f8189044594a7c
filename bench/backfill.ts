// How fast a backfill plans, with how much memory and how many statements: when everybody is new (a dry run), when
// nothing needs a call, and when everybody differs (a dry run, and noted).
// Run: npm run bench -- backfill [customers …]
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { install } from '../src/capture/install.ts'
import { planCapture } from '../src/capture/relations.ts'
import type { Config } from '../src/config/config.ts'
import type { RollcallConfig } from '../src/config/define.ts'
import { resolveConfig } from '../src/config/resolve.ts'
import { makePool } from '../src/database/pool.ts'
import { databaseAt } from '../src/database/session.ts'
import { startPostgres } from '../src/embedded/postgres.ts'
import { bindGeneration } from '../src/ledger/generation.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { forCustomer, makeDigester } from '../src/sync/digest.ts'
import { mapCustomer } from '../src/sync/map.ts'

const BIN = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
/** Tells at the end the most memory that the process has had, in KiB, and its processor time, in microseconds. */
const TELL = `data:text/javascript,process.on('exit',()=>{const u=process.resourceUsage();process.stderr.write('\\nused '+u.maxRSS+' '+(u.userCPUTime+u.systemCPUTime)+'\\n')})`
const DIGEST_KEY = 'bench-digest-key-of-thirty-two-ch'
const CONFIG: RollcallConfig = {
  customers: { table: 'customers', key: 'id' },
  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { free: 0, premium: 2 } },
    email: 'email',
    first_name: 'name',
    last_name: 'name',
    birthdate: 'born',
    mobile_phone: 'phone',
    mobile_phone_prefix: { value: '+34' },
    description: 'note',
    country_code: 'country',
  },
}

const sizes = process.argv.slice(2).map(Number)
for (const customers of sizes.length > 0 ? sizes : [10_000, 100_000, 1_000_000]) await measure(customers)

async function measure(customers: number): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres())
  const pool = makePool({ url: postgres.url, max: 4, statementTimeoutMs: 0, onError: () => undefined })
  stack.defer(() => pool.end())
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(CONFIG)}`)
  await pool.query(
    'CREATE TABLE public.customers (id text PRIMARY KEY, plan text, email text, name text, born date, phone text, note text, country text)',
  )
  await pool.query(
    `INSERT INTO public.customers SELECT 'k' || lpad(i::text, 9, '0'), 'premium', 'k' || i || '@example.com', 'N' || i,
       '1990-01-01', '600123456', repeat('note ', 30), 'ES' FROM generate_series(1, $1::int) i`,
    [customers],
  )
  await pool.query('VACUUM ANALYZE public.customers')
  const config = resolveConfig(CONFIG, 'bench')
  const of = { pool, folder, url: postgres.url, customers }
  await backfill(of, 'dry run, everybody new', ['--dry-run'])

  await migrate(databaseAt(postgres.url))
  const client = await pool.connect()
  await install(client, await planCapture(client, config))
  client.release()
  await settle(pool, config)
  await backfill(of, 'nothing needs a call', [])
  await pool.query(`UPDATE rollcall.ledger SET remote = 'absent'`)
  await pool.query('VACUUM ANALYZE')
  await backfill(of, 'dry run, everybody differs', ['--mapping', '--dry-run'])
  await backfill(of, 'everybody differs', ['--mapping'])
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
  const child = spawn(process.execPath, ['--import', TELL, BIN, 'backfill', ...args, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DATABASE_URL: url,
      SERVICE_URL: 'http://127.0.0.1:1',
      SERVICE_API_KEY: 'bench-api-key',
      ROLLCALL_DIGEST_KEY: DIGEST_KEY,
    },
  })
  let [out, errors] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  const code = await new Promise((resolve) => child.once('close', resolve))
  const seconds = (performance.now() - started) / 1000
  if (code !== 0 && code !== 3) throw new Error(errors)
  const [, peak, processor] = /used (\d+) (\d+)/.exec(errors) ?? []
  const { verdicts } = JSON.parse(out)
  const statements = (await transactions(pool)) - before
  process.stdout.write(
    `${what}: ${customers} customers, ${verdicts.differs} differ, ${seconds.toFixed(1)} s (processor ${(Number(processor) / 1e6).toFixed(1)} s), ${Math.round(customers / seconds)}/s, ${Math.round(Number(peak) / 1024)} MiB, ${(statements / customers).toFixed(4)} statements each\n`,
  )
}

async function transactions(pool: pg.Pool): Promise<number> {
  await pool.query('SELECT pg_stat_force_next_flush()')
  const { rows } = await pool.query<{ n: number }>(
    'SELECT (xact_commit + xact_rollback)::float8 AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  return rows[0]?.n ?? 0
}

/** As claims would have left everybody, written in bulk: a million calls are not what is measured. */
async function settle(pool: pg.Pool, config: Config): Promise<void> {
  const { generation } = await bindGeneration(pool, config.fingerprint)
  const digester = makeDigester(DIGEST_KEY)
  const now = new Date()
  for (let after = ''; ; ) {
    const { rows } = await pool.query(
      'SELECT * FROM public.customers WHERE id > $1 ORDER BY id LIMIT 10000',
      [after],
    )
    if (rows.length === 0) break
    after = rows.at(-1).id
    const records = rows.map((row) => {
      const mapped = mapCustomer(config, { key: row.id, row, now })
      if (mapped.kind !== 'user') throw new Error('everybody is a user here')
      const digests = forCustomer(digester, row.id)
      const fields = Object.entries(mapped.user.fields) as [Parameters<typeof digests.exact>[0], string][]
      const sent = Object.fromEntries(fields.map(([field, value]) => [field, digests.exact(field, value)]))
      return { key: row.id, sent, desired: digester.whole(row.id, mapped, config.clearWith) }
    })
    await pool.query(
      `INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, sent, digest_key, state, desired, generation)
       SELECT key, key, 'present', 2, sent, $2, 'idle', desired, $3
       FROM jsonb_to_recordset($1::jsonb) AS r (key text, sent jsonb, desired text)`,
      [JSON.stringify(records), digester.id, generation],
    )
  }
  await pool.query(
    'INSERT INTO rollcall.owed (key, change_version, synced_version, lane) SELECT key, 1, 1, 3 FROM rollcall.ledger ORDER BY key',
  )
  await pool.query('VACUUM ANALYZE')
}
