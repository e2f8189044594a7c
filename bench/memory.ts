// Peak memory and time of a command that looks at everybody, with few customers and with many.
// Run: npm run build && npx node bench/memory.ts [customers…]
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { install } from '../src/capture/install.ts'
import { planCapture } from '../src/capture/relations.ts'
import { resolveConfig } from '../src/config/resolve.ts'
import { startPostgres } from '../src/embedded/postgres.ts'
import { migrate } from '../src/ledger/migrate.ts'

const BIN = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
/** Tells at the end the most memory that the process has had, in KiB, and its processor time, in microseconds. */
const TELL = `data:text/javascript,process.on('exit',()=>{const u=process.resourceUsage();process.stderr.write('\\nused '+u.maxRSS+' '+(u.userCPUTime+u.systemCPUTime)+'\\n')})`
const DRY_RUN = ['backfill', '--mapping', '--dry-run', '--json']
const APPLY = ['backfill', '--mapping', '--json']
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 100_000]

const AUTHORED = {
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
  },
}

await using postgres = await startPostgres()
const pool = new pg.Pool({ connectionString: postgres.url })
await using stack = new AsyncDisposableStack()
stack.defer(() => pool.end())
await migrate(postgres.url, { queueUrl: postgres.url })
await pool.query(
  'CREATE TABLE customers (id text PRIMARY KEY, plan text, email text, name text, born date, phone text, note text)',
)
const client = await pool.connect()
await install(client, await planCapture(client, resolveConfig(AUTHORED, 'bench')))
client.release()
const folder = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))
await writeFile(join(folder, 'rollcall.config.js'), `export default ${JSON.stringify(AUTHORED)}`)

for (const size of sizes) {
  await pool.query('TRUNCATE customers, rollcall.outbox, rollcall.owed, rollcall.ledger')
  await pool.query(
    `INSERT INTO customers SELECT 'k' || i, 'premium', 'k' || i || '@example.com', 'Name ' || i, '1990-01-01', '600123456',
       repeat('note ', 30) FROM generate_series(1, $1::int) i`,
    [size],
  )
  // As if each had been revoked once and was not there any more: all differ, and are planned for and noted.
  await pool.query(
    `INSERT INTO rollcall.ledger (key, user_id, remote, generation) SELECT id, id, 'absent', 0 FROM customers`,
  )
  await pool.query('ANALYZE')
  for (const command of [DRY_RUN, APPLY]) {
    const started = performance.now()
    const { code, peakMiB, processorS } = await run(command)
    const seconds = (performance.now() - started) / 1000
    process.stdout.write(
      `${size} customers, ${command.join(' ')}: ${peakMiB} MiB at the most, ${seconds.toFixed(1)} s (processor ${processorS.toFixed(1)} s), exit code ${code}\n`,
    )
  }
}

async function run(args: readonly string[]) {
  const command = spawn(process.execPath, ['--import', TELL, BIN, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      DATABASE_URL: postgres.url,
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_API_KEY: 'bench-api-key',
      ROLLCALL_DIGEST_KEY: 'bench-digest-key-of-thirty-two-ch',
    },
  })
  let told = ''
  command.stderr.on('data', (text) => {
    told += text
  })
  const code = await new Promise((resolve) => command.once('close', resolve))
  const found = /used (\d+) (\d+)/.exec(told)
  if (code !== 0 && code !== 3) process.stderr.write(told)
  return { code, peakMiB: Math.round(Number(found?.[1]) / 1024), processorS: Number(found?.[2]) / 1e6 }
}
