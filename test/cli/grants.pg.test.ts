// `rollcall grants` as a command: what it prints, what it refuses, and that it changes nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { grantsCommand } from '../../src/cli/grants.ts'
import { main } from '../../src/cli/main.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { explain, RollcallError } from '../../src/model/errors.ts'
import { buildHouse, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

let house: House
let folder: string
beforeAll(async () => {
  house = await buildHouse(lane)
  folder = await mkdtemp(join(tmpdir(), 'rollcall-grants-'))
  await writeConfig('rollcall.config.js', {})
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

function writeConfig(name: string, changes: Partial<RollcallConfig>): Promise<void> {
  const config = { ...house.authored, ...changes }
  return writeFile(join(folder, name), `export default ${JSON.stringify(config)}`)
}

/** Asked by the worker's role: it takes no right to ask. */
async function grants(...args: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const { MIGRATE_DATABASE_URL: _owner, ...env } = house.env
  const io = {
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
    env,
    cwd: folder,
  }
  const program = new Command().exitOverride()
  grantsCommand(program, { ...io, terminal: false, stop: new AbortController().signal }, () => undefined)
  const failed = await program.parseAsync(['grants', ...args], { from: 'user' }).then(
    () => '',
    (error: unknown) => (error instanceof RollcallError ? `${error.code} ${explain(error)}` : String(error)),
  )
  return { script: out.join('\n'), err: err.join('\n'), failed }
}

const workerRole = () => new URL(house.env.DATABASE_URL ?? '').username

test('it prints a script with a comment for each part, and changes nothing', async () => {
  const role = await house.db.makeRole()
  const { script, err, failed } = await grants('--to', role.name)
  expect([err, failed]).toEqual(['', ''])
  expect(script).toMatch(/^-- .*\n-- .*\nSET search_path = .*;\nBEGIN;\n/)
  expect(script).toMatch(/COMMIT;\nRESET search_path;$/)
  expect(script).toContain(`GRANT USAGE ON SCHEMA rollcall TO "${role.name}";`)
  expect(script).toContain('GRANT SELECT ("id", "plan", "correo", ')
  expect(script).not.toContain('interno')
  expect(script).not.toContain('rollcall_queue')
  expect(script).toMatch(/-- The columns of the customers.*\nGRANT USAGE ON SCHEMA "public"/)
  const { rows } = await house.db.pool.query(`SELECT has_schema_privilege($1, 'rollcall', 'USAGE') AS may`, [
    role.name,
  ])
  expect(rows).toEqual([{ may: false }])
})

test('--queue adds the rights on the queue', async () => {
  const { script } = await grants('--to', workerRole(), '--queue')
  expect(script).toContain('GRANT USAGE ON SCHEMA rollcall_queue TO')
  expect(script).toContain('CREATE SEQUENCE IF NOT EXISTS rollcall_queue."bullmq_jid_')
})

test('a role that is not there, columns and tables that are not there, and options that exclude each other', async () => {
  expect((await grants('--to', 'nobody"; DROP')).failed).toContain('USAGE')
  expect((await grants('--to', 'public')).failed).toMatch(/no role/)
  expect((await grants('--to', workerRole(), '--read-only', '--queue')).failed).toContain('--read-only')
  await writeConfig('columns.js', { mapping: { user_id: 'id', status: 'plann' } })
  const columns = await grants('--to', workerRole(), '--config', 'columns.js')
  expect(columns.failed).toMatch(
    /CUSTOMERS_UNREADABLE.*no column plann in public.clientes; did you mean plan\?/s,
  )
  await writeConfig('table.js', { customers: { table: 'cliente', key: 'id' } })
  expect((await grants('--to', workerRole(), '--config', 'table.js')).failed).toContain(
    'did you mean public.clientes',
  )
})

test('a role that has more rights than these is named', async () => {
  const owner = new URL(house.db.url).username
  const { err, script } = await grants('--to', owner)
  expect(err).toMatch(/more rights/)
  expect(script).toContain('COMMIT;')
})

test('a view that reads with the rights of its reader is pointed out', async () => {
  await house.db.pool.query('CREATE VIEW v WITH (security_invoker = true) AS SELECT * FROM clientes')
  await writeConfig('view.js', {
    customers: { view: 'v', key: 'id' },
    watch: [{ table: 'clientes', key: 'id' }],
  })
  const { err, script } = await grants('--to', workerRole(), '--config', 'view.js')
  expect(err).toMatch(/rights of its reader/)
  expect(script).toContain('ON "public"."v" TO')
})

test('--read-only: looks, with no configuration, at what rollcall knows, and reads no customer and writes nothing', async () => {
  const role = await house.db.makeRole()
  const { script } = await grants('--to', role.name, '--read-only', '--config', 'not-read.js')
  await house.db.pool.query(script)
  await house.db.pool.query(
    `INSERT INTO rollcall.ledger (key, state, reason) VALUES ('k', 'rejected', '{"code": "refused"}')`,
  )
  expect(script).not.toMatch(/INSERT|UPDATE|DELETE|MAINTAIN|clientes/)
  const out: string[] = []
  const env = { DATABASE_URL: role.url }
  const io = {
    out: (line: string) => out.push(line),
    err: (line: string) => out.push(line),
    env,
    cwd: folder,
  }
  const run = (...args: readonly string[]) =>
    main(args, { ...io, terminal: false, stop: new AbortController().signal })
  for (const args of [
    ['status'],
    ['failures'],
    ['failures', 'k'],
    ['failures', '--reason', 'refused'],
    ['answers'],
  ])
    expect([0, 3], `${args}: ${out.slice(-5).join('\n')}`).toContain(await run(...args))
  for (const args of [
    ['failures', '--retry', '--all'],
    ['answers', '--forget'],
    ['sync', 'k', '--dry-run'],
  ])
    expect([1, 2], `${args}: ${out.slice(-5).join('\n')}`).toContain(await run(...args))
  expect(out.join('\n')).toContain('permission denied for table owed')
  expect(out.join('\n')).toContain('permission denied for table answer')
})
