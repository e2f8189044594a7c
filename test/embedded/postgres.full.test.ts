import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { canRun, serverAccount, temporaryFolder } from '../../src/embedded/account.ts'
import { reachableBy, startPostgres } from '../../src/embedded/postgres.ts'
import { falling } from '../support/falling.ts'
import { until } from '../support/until.ts'
import { runs, startParent } from './processes.ts'

const root = process.getuid?.() === 0

async function ask(url: string, text: string): Promise<Record<string, unknown> | undefined> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows[0]
  } finally {
    await client.end()
  }
}

test('starts side by side, and leaves nothing behind', async () => {
  const [one, other] = await Promise.all([startPostgres(), startPostgres()])
  const row = await ask(one.url, `SELECT current_setting('data_directory') AS data`)
  const folder = join(String(row?.data), '..')
  expect(one.port).not.toBe(other.port)
  await Promise.all([one.stop(), other.stop()])
  expect([runs(one.running.pid), runs(other.running.pid), existsSync(folder)]).toEqual([false, false, false])
})

test('is Postgres 18 with UTF-8 on loopback alone, takes settings and a place, and asks for the password', async () => {
  const place = await temporaryFolder('rollcall-place-', await serverAccount())
  try {
    await using server = await startPostgres({ place, settings: { wal_level: 'logical' } })
    const row = await ask(
      server.url,
      `SELECT current_setting('server_version_num')::int / 10000 AS version,
         current_setting('server_encoding') AS encoding, current_setting('listen_addresses') AS addresses,
         current_setting('wal_level') AS wal, starts_with(current_setting('data_directory'), '${place}/') AS place`,
    )
    expect(row).toEqual({
      version: 18,
      encoding: 'UTF8',
      addresses: '127.0.0.1',
      wal: 'logical',
      place: true,
    })
    const wrong = new URL(server.url)
    wrong.password = 'wrong'
    await expect(ask(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
  } finally {
    rmSync(place, { recursive: true })
  }
})

test('keeps what was committed through a restart and a kill', async () => {
  await using server = falling(await startPostgres(), 'SIGINT')
  await ask(server.url, 'CREATE TABLE kept AS SELECT 1 AS n')

  await server.restart()
  await ask(server.url, 'UPDATE kept SET n = n + 1')
  await server.kill()
  await expect(ask(server.url, 'SELECT 1')).rejects.toThrow()
  await server.restart()

  expect(await ask(server.url, 'SELECT n FROM kept')).toEqual({ n: 2 })
})

test("a server that does not start is an error with the end of the server's log", async () => {
  await expect(startPostgres({ settings: { shared_buffers: 'much' } })).rejects.toMatchObject({
    code: 'EMBEDDED_FAILED',
    details: expect.arrayContaining([expect.stringContaining('shared_buffers')]),
  })
})

const asNobody = root ? { uid: Number(execFileSync('id', ['-u', 'nobody'])), gid: 65_534 } : undefined
const nobodyCanRunNode =
  asNobody !== undefined && (await canRun(asNobody, '"$1" --version', process.execPath))

const WAYS: readonly (readonly [string, object])[] = [
  ['as ourselves, without HOME and LANG', {}],
  ...(asNobody && nobodyCanRunNode ? [['as another user than root', asNobody] as const] : []),
]

test.each(WAYS)('a parent that is killed leaves no server and no folder: %s', async (_how, options) => {
  const { child, said } = await startParent(['postgres'], { ...options, env: {} })
  expect([said.encoding, runs(said.pid)]).toEqual(['UTF8', true])
  child.kill('SIGKILL')
  await until(() => !runs(said.pid) && !existsSync(said.folder), { what: 'server and folder are gone' })
})

test.skipIf(!root)('binaries that the server account cannot reach are copied to where it can', async () => {
  const account = await serverAccount()
  if (!account) throw new Error('root has a server account')
  const closed = await mkdtemp(join(tmpdir(), 'rollcall-closed-'))
  const folder = await temporaryFolder('rollcall-copy-', account)
  try {
    await mkdir(join(closed, 'native', 'bin'), { recursive: true })
    const initdb = join(closed, 'native', 'bin', 'initdb')
    await writeFile(initdb, '#!/bin/sh\nexit 0\n')
    await chmod(initdb, 0o700)
    const there = await reachableBy({ initdb, postgres: initdb }, account, folder)
    expect(there.initdb).not.toBe(initdb)
    expect(await canRun(account, '"$1"', there.initdb)).toBe(true)

    const same = await reachableBy({ initdb: '/bin/true', postgres: '/bin/true' }, account, folder)
    expect(same.initdb).toBe('/bin/true')
  } finally {
    for (const each of [closed, folder]) rmSync(each, { recursive: true })
  }
})
