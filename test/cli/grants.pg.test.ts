// `rollcall grants` as a command: what it prints, what it refuses, and that it changes nothing.
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { makeCommand } from '../support/command.ts'
import { buildHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { ofFile } from '../support/of-file.ts'

const house = ofFile(() => buildHouse(lane))
const command = ofFile(() => makeCommand(JSON.stringify(house.authored)))

function writeConfig(name: string, changes: Partial<RollcallConfig>): Promise<void> {
  const config = { ...house.authored, ...changes }
  return writeFile(join(dirname(command.file), name), `export default ${JSON.stringify(config)}`)
}

/** Asked by the worker's role: it takes no right to ask. */
function grants(...args: readonly string[]) {
  const { MIGRATE_DATABASE_URL: _owner, ...env } = house.env
  return command.run(env, 'grants', ...args)
}

const workerRole = () => new URL(house.env.DATABASE_URL ?? '').username

test('it prints a script with a comment for each part, and changes nothing', async () => {
  const role = await house.db.makeRole()
  const { out: script, err, code } = await grants('--to', role.name)
  expect([err, code]).toEqual(['', 0])
  expect(script).toMatch(/^(-- .*\n)+SET search_path = .*;\nBEGIN;\n/)
  expect(script).toMatch(/COMMIT;\nRESET search_path;$/)
  expect(script).toContain(`GRANT USAGE ON SCHEMA rollcall TO "${role.name}";`)
  expect(script).toContain('GRANT SELECT ("id", "plan", "correo", ')
  expect(script).not.toContain('interno')
  expect(script).not.toContain('rollcall_queue')
  expect(script).toMatch(/-- Only the customer columns .*\nGRANT USAGE ON SCHEMA "public"/)
  const { rows } = await house.sql(`SELECT has_schema_privilege($1, 'rollcall', 'USAGE') AS may`, [role.name])
  expect(rows).toEqual([{ may: false }])
})

test('--queue adds the rights on the queue', async () => {
  const { out: script } = await grants('--to', workerRole(), '--queue')
  expect(script).toContain('GRANT USAGE ON SCHEMA rollcall_queue TO')
  expect(script).toContain('CREATE SEQUENCE IF NOT EXISTS rollcall_queue."bullmq_jid_')
})

test('a role that is not there, columns and tables that are not there, and options that exclude each other', async () => {
  expect(await grants('--to', 'nobody"; DROP')).toMatchObject({ code: 2 })
  expect((await grants('--to', 'public')).err).toMatch(/no role/)
  expect((await grants('--to', workerRole(), '--read-only', '--queue')).err).toContain('--read-only')
  await writeConfig('columns.js', { mapping: { user_id: 'id', status: 'plann' } })
  const columns = await grants('--to', workerRole(), '--config', 'columns.js')
  expect(columns.err).toMatch(/no column "plann" in public.clientes; did you mean plan\?/s)
  await writeConfig('table.js', { customers: { table: 'cliente', key: 'id' } })
  expect((await grants('--to', workerRole(), '--config', 'table.js')).err).toContain(
    'did you mean public.clientes',
  )
})

test('a role that has more rights than these is named', async () => {
  const owner = new URL(house.db.url).username
  const { err, out: script } = await grants('--to', owner)
  expect(err).toMatch(/more rights/)
  expect(script).toContain('COMMIT;')
})

test('a view that reads with the rights of its reader is pointed out', async () => {
  await house.sql('CREATE VIEW v WITH (security_invoker = true) AS SELECT * FROM clientes')
  await writeConfig('view.js', {
    customers: { view: 'v', key: 'id' },
    watch: [{ table: 'clientes', key: 'id' }],
  })
  const { err, out: script } = await grants('--to', workerRole(), '--config', 'view.js')
  expect(err).toMatch(/security_invoker/)
  expect(script).toContain('ON "public"."v" TO')
})

test('--read-only: looks, with no configuration, at what rollcall knows, and reads no customer and writes nothing', async () => {
  const role = await house.db.makeRole()
  const { out: script } = await grants('--to', role.name, '--read-only', '--config', 'not-read.js')
  await house.sql(script)
  await house.sql(
    `INSERT INTO rollcall.ledger (key, state, reason) VALUES ('k', 'rejected', '{"code": "refused"}')`,
  )
  expect(script).not.toMatch(/INSERT|UPDATE|DELETE|MAINTAIN|clientes/)
  const said: string[] = []
  const run = async (...args: readonly string[]) => {
    const { code, output } = await command.run({ DATABASE_URL: role.url }, ...args)
    said.push(output)
    return code
  }
  for (const typed of ['status', 'failures', 'failures k', 'failures --reason refused', 'answers'])
    expect([0, 3], `${typed}: ${said.at(-1)}`).toContain(await run(...typed.split(' ')))
  for (const typed of ['failures --retry --all', 'answers --forget', 'sync k --dry-run'])
    expect([1, 2], `${typed}: ${said.at(-1)}`).toContain(await run(...typed.split(' ')))
  expect(said.join('\n')).toContain('permission denied for table owed')
  expect(said.join('\n')).toContain('permission denied for table answer')
})

test('a right that is missing names the role and its variable, also in the midst of a command', async () => {
  const { db, env } = house
  await db.sql(`INSERT INTO clientes (id, plan) VALUES ('k', 'free')`)
  await db.sql(`REVOKE UPDATE ON rollcall.owed FROM ${workerRole()}`)
  const { code, err } = await command.run(env, 'sync', 'k')
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(`${workerRole()} (DATABASE_URL): permission denied`),
  ])
  const { name, url } = await db.makeRole()
  await db.sql(`GRANT USAGE ON SCHEMA rollcall TO ${name}`)
  const uninstalled = await command.run({ ...env, MIGRATE_DATABASE_URL: url }, 'capture', 'uninstall')
  expect(uninstalled.err).toContain(
    `the role ${name} (MIGRATE_DATABASE_URL): must be owner of relation clientes`,
  )
})
