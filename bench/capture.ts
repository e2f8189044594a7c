// The cost of capture for the writer, with and without the triggers, alternately in one run. 8 and 20 clients make
// single-row UPDATEs (pgbench), and one statement updates 100,000 rows, of a mapped or of an unmapped column.
// Run: npm run bench -- capture [rounds] [seconds of each measurement]
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { install, uninstall } from '../src/capture/install.ts'
import { planCapture } from '../src/capture/relations.ts'
import { databaseAt } from '../src/database/session.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { CONFIG, insertCustomers, startServers } from './house.ts'
import { numbers, publish, quantile } from './results.ts'

const [rounds, seconds] = numbers([3, 4], [1, 2])
const ROWS = 100_000
const COLUMN = { mapped: 'email', unmapped: 'note' } as const

await using servers = await startServers()
const { pool, url } = servers
await using folder = await scripts()
await migrate(databaseAt(url))
await insertCustomers(pool, 1, ROWS)
await pool.query('VACUUM ANALYZE customers')

const measured = new Map<string, { without: number[]; with: number[] }>()
for (let round = 0; round < rounds; round++) {
  for (const mode of ['without', 'with'] as const) {
    const client = await pool.connect()
    if (mode === 'with') await install(client, await planCapture(client, CONFIG))
    for (const [kind, column] of Object.entries(COLUMN)) {
      for (const clients of [8, 20])
        keep(`${clients} clients, ${kind}: UPDATEs a second`, mode, await pgbench(kind, clients))
      const started = performance.now()
      await client.query(`UPDATE customers SET ${column} = $1 || id`, [`x${Math.random()}`])
      keep(`${ROWS} rows at once, ${kind}: milliseconds`, mode, performance.now() - started)
      await client.query('TRUNCATE rollcall.outbox')
      await client.query('VACUUM customers')
    }
    if (mode === 'with') await uninstall(client)
    client.release()
  }
}
publish({
  name: 'capture',
  about: `What capture costs: ${rounds} rounds of ${seconds} s`,
  columns: [{ title: '' }, { title: 'without' }, { title: 'with' }, { title: 'ratio', digits: 2 }],
  rows: [...measured].map(([what, values]) => [
    ...[what, values.without, values.with],
    quantile(values.with, 0.5) / quantile(values.without, 0.5),
  ]),
})

async function pgbench(kind: string, clients: number): Promise<number> {
  const args = ['-n', '-M', 'prepared', '-j', '2', '-c', String(clients), '-T', String(seconds)]
  const { stdout } = await promisify(execFile)('pgbench', [...args, '-f', join(folder.path, kind), url])
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
}

async function scripts() {
  const path = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  for (const [kind, column] of Object.entries(COLUMN))
    await writeFile(
      join(path, kind),
      `\\set id random(1, ${ROWS})\n\\set to random(1, 1000000000)\nUPDATE customers SET ${column} = 'x' || :to WHERE id = 'k' || :id;\n`,
    )
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

function keep(what: string, mode: 'without' | 'with', value: number): void {
  const values = measured.get(what) ?? { without: [], with: [] }
  values[mode].push(value)
  measured.set(what, values)
}
