// A process that starts a server, tells what it knows of it in one line of JSON, and stays until it is ended
// from outside. `node parent.ts postgres|sleeper [ends]`: with `ends` it finishes without stopping it.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { guard } from '../../src/embedded/launch.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'

const [what, ends] = process.argv.slice(2)
// Ctrl-C is what the parent itself survives in these tests.
process.on('SIGINT', () => undefined)

process.stdout.write(`${JSON.stringify(await begin())}\n`)
if (!ends) setInterval(() => undefined, 60_000)

async function begin() {
  if (what === 'sleeper') {
    const folder = await mkdtemp(join(tmpdir(), 'rollcall-guardian-'))
    const guardian = guard({ folder, lastSignal: 'SIGTERM', deadlineMs: 5_000 })
    const { pid } = await guardian.start({
      file: process.execPath,
      args: ['-e', 'setInterval(() => undefined, 1e6)'],
      env: {},
      log: join(folder, 'log'),
    })
    return { pid, guardian: guardian.pid, folder }
  }
  const { running, url } = await startPostgres()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`SELECT current_setting('data_directory') AS data,
    current_setting('server_encoding') AS encoding, current_user AS user`)
  await client.end()
  return { pid: running.pid, folder: join(rows[0].data, '..'), encoding: rows[0].encoding }
}
