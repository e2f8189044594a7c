// How sessions begin, and what is refused where they cannot.
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { endPool, makePool, roleBehind } from '../../src/database/pool.ts'
import { connectOne, databaseAt, roleOf, sessionConfig } from '../../src/database/session.ts'
import { connectQueue } from '../../src/dispatch/connect.ts'
import { freePort, HOST } from '../../src/embedded/launch.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { reachable } from '../../src/ledger/reachable.ts'
import { freshDatabase } from '../support/database.ts'
import { startPostgresInMemory } from '../support/in-memory.ts'

const NAMES = [
  ...(['search_path', 'row_security', 'jit', 'timezone', 'datestyle', 'synchronous_commit'] as const),
  ...(['statement_timeout', 'lock_timeout'] as const),
] as const
type Settings = Readonly<Record<(typeof NAMES)[number], string>>

async function settingsIn(client: Pick<pg.ClientBase, 'query'>): Promise<Settings> {
  const { rows } = await client.query<Settings>(
    `SELECT ${NAMES.map((name) => `pg_catalog.current_setting('${name}') AS ${name}`).join(', ')}`,
  )
  return rows[0] as Settings
}

const OURS = {
  search_path: 'pg_catalog, pg_temp',
  row_security: 'off',
  jit: 'off',
  timezone: 'Asia/Tokyo',
  datestyle: 'ISO, DMY',
  synchronous_commit: 'on',
  statement_timeout: '0',
  lock_timeout: '0',
}

/** A database that wants everything otherwise, and an address that does so, too. */
async function contrary() {
  const db = await freshDatabase()
  for (const setting of [
    'search_path = public',
    'jit = on',
    "timezone = 'Asia/Tokyo'",
    'synchronous_commit = off',
    "statement_timeout = '20s'",
    "lock_timeout = '20s'",
  ])
    await db.sql(`ALTER DATABASE ${db.name} SET ${setting}`)
  const url = new URL(db.url)
  url.searchParams.set('options', '-c jit=on -c datestyle=German')
  return { db, url: url.href }
}

test('a session is as ours are, whatever database, role and address say', async () => {
  const { db, url } = await contrary()
  await using _ = db
  const pool = makePool({ url, max: 1, onError: () => undefined })
  expect(await settingsIn(pool)).toEqual({ ...OURS, statement_timeout: '30s' })
  await endPool(pool, 0)
  const client = await connectOne(databaseAt(url), {})
  expect(await settingsIn(client)).toEqual(OURS)
  await client.end()
})

test('those of a queue are, too, but for the path, which is BullMQ’s', async () => {
  const { db, url } = await contrary()
  await using _ = db
  await migrate(databaseAt(url), { queue: databaseAt(url) })
  const queue = await connectQueue(url, () => undefined)
  const { schema: __, ...config } = queue.consumer as pg.PoolConfig & { schema: string }
  const pool = new pg.Pool(config)
  pool.on('error', () => undefined) // of a connection that is closing while its database is dropped
  expect(await settingsIn(pool)).toMatchObject({ jit: 'off', row_security: 'off', statement_timeout: '0' })
  await pool.end()
  await queue.close()
})

test('who is refused is named: the role, and the variable that it came from', async () => {
  await using db = await freshDatabase()
  const role = await db.makeRole()
  const pool = makePool({ url: role.url, max: 1, onError: () => undefined })
  expect(roleBehind(pool)).toBe(`the role ${role.name} (DATABASE_URL)`)
  await expect(
    reachable(() => pool.query('SELECT FROM rollcall.owed'), { role: roleBehind(pool) }),
  ).rejects.toMatchObject({
    code: 'DATABASE_REFUSED',
    details: [expect.stringMatching(`${role.name} \\(DATABASE_URL\\): permission denied`)],
  })
  await endPool(pool, 0)
})

test('a standby is one, for a pool, a single session and a queue, and no longer once it is promoted', async () => {
  await using server = await startPostgresInMemory()
  const { url } = server
  const admin = new pg.Pool({ connectionString: url, max: 1 })
  admin.on('error', () => undefined)
  await migrate(databaseAt(url), { queue: databaseAt(url) })
  const { rows } = await admin.query<{ data_directory: string }>('SHOW data_directory')
  await server.kill()
  await writeFile(join(rows[0]?.data_directory ?? '', 'standby.signal'), '')
  await server.restart()

  const pool = makePool({ url, max: 1, onError: () => undefined })
  const standby = { code: 'DATABASE_STANDBY', exitCode: 2 }
  await expect(pool.query('SELECT 1')).rejects.toMatchObject({
    ...standby,
    details: [expect.stringContaining('DATABASE_URL')],
  })
  await expect(connectOne(databaseAt(url), {})).rejects.toMatchObject(standby)
  await expect(connectQueue(url, () => undefined)).rejects.toMatchObject({
    ...standby,
    details: [expect.stringContaining('QUEUE_URL')],
  })

  await admin.query('SELECT pg_promote()')
  await pool.query('SELECT 1')
  await endPool(pool, 0)
  await admin.end()
})

/** As PgBouncer with `ignore_startup_parameters = options`: whatever a session begins with is dropped. */
async function droppingOptions(url: string) {
  const to = new URL(url)
  const through = new URL(url)
  const port = await freePort()
  through.hostname = HOST
  through.port = String(port)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: to.hostname, port: Number(to.port) })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.once('data', (startup) => {
      // Under another name of the same length Postgres ignores the setting.
      upstream.write(Buffer.from(startup.toString('latin1').replace('\0options\0', '\0x.dropt\0'), 'latin1'))
      client.pipe(upstream)
    })
    upstream.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(port, HOST, resolve))
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { url: through.href, [Symbol.asyncDispose]: close }
}

test('a pooler that drops what a session begins with is found at the first connection', async () => {
  await using db = await freshDatabase()
  await using pooler = await droppingOptions(db.url)
  const pool = makePool({
    url: pooler.url,
    variable: 'MIGRATE_DATABASE_URL',
    max: 1,
    onError: () => undefined,
  })
  await expect(pool.query('SELECT 1')).rejects.toMatchObject({
    code: 'SESSION_UNFIT',
    exitCode: 2,
    details: [expect.stringContaining('MIGRATE_DATABASE_URL')],
  })
  await endPool(pool, 0)
})

test.each(['-c%20nosuch%3D1', '-c%20statement_timeout%3Dx', 'search_path%3Dpublic'])(
  'options that the server does not take are reported as a mistake of the address: %s',
  async (options) => {
    await using db = await freshDatabase()
    const address = databaseAt(`${db.url}?options=${options}`)
    const asked = reachable(() => connectOne(address, {}), { role: roleOf(address) })
    await expect(asked).rejects.toMatchObject({
      code: 'SESSION_UNFIT',
      details: [expect.stringContaining('DATABASE_URL')],
    })
  },
)

test('the address’ own options stay, before ours', () => {
  const { connectionString, options } = sessionConfig(
    databaseAt('postgres://a@h/d?options=-c%20work_mem%3D8MB%20-c%20jit%3Don&application_name=x'),
    'database',
  )
  expect(new URL(connectionString).searchParams.has('options')).toBe(false)
  expect(options).toMatch(/^-c work_mem=8MB -c jit=on .*-c jit=off/)
})
