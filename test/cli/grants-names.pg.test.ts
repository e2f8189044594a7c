// Names that would do harm wherever one of them went into a statement as it is.
import pg from 'pg'
import { expect, test } from 'vitest'
import { printSql } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import { grantsScript } from '../../src/cli/grants.ts'
import { administer } from '../support/administer.ts'
import { makeCommand } from '../support/command.ts'
import { buildHouse } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

/** As long as a name may be: 63 bytes, and each of them another. */
function hostile(mark: string): string {
  const name = `${mark}"; DROP TABLE canary; --'\\ $1 :x $$ %I\n\u00f1\u{1f4a3}`
  return name + 'x'.repeat(63 - Buffer.byteLength(name))
}

const q = pg.escapeIdentifier
type Five = [string, string, string, string, string]
const [SCHEMA, TABLE, SIDE, TYPES, TYPE] = ['S', 'T', 'W', 'Y', 'Z'].map(hostile) as Five
const [KEY, PLAN, EMAIL, OWNER, EXTRA] = ['a', 'b', 'c', 'd', 'e'].map(hostile) as Five
const customers = `${q(SCHEMA)}.${q(TABLE)}`
const side = `${q(SCHEMA)}.${q(SIDE)}`
const type = `${q(TYPES)}.${q(TYPE)}`

const SQL = `
CREATE TABLE canary (id int);
CREATE SCHEMA ${q(SCHEMA)};
CREATE SCHEMA ${q(TYPES)};
CREATE TYPE ${type} AS ENUM ('k1', 'k2');
CREATE TABLE ${customers} (${q(KEY)} ${type}, ${q(PLAN)} text, ${q(EMAIL)} text, n int, PRIMARY KEY (${q(KEY)}));
CREATE TABLE ${side} (${q(OWNER)} ${type}, ${q(EXTRA)} text)`

const config = {
  customers: { table: customers, key: KEY },
  watch: [
    { table: customers, key: KEY },
    { table: side, key: OWNER, columns: [EXTRA] },
  ],
  mapping: { user_id: KEY, status: { column: PLAN, values: { free: 0, premium: 2 } }, email: EMAIL },
}

test('names of the customers, of their columns and types and of watched tables are quoted wherever SQL is made', async () => {
  await using house = await buildHouse(lane, { sql: SQL, config })
  const { pool } = house.db
  const { watchers } = await planCapture(pool, house.config)
  expect(watchers.map(({ relation }) => relation.name)).toEqual([TABLE, SIDE])
  await using command = await makeCommand(JSON.stringify(house.authored))
  const rollcall = (...args: readonly string[]) => command.run({ ...house.env }, ...args)
  const fine = expect.objectContaining({ code: 0 })

  // The triggers were installed with the house; here they come from the printed script.
  expect(await rollcall('capture', 'uninstall')).toEqual(fine)
  await pool.query(printSql(await planCapture(pool, house.config)))
  expect(await rollcall('capture', 'status')).toEqual(fine)

  const worker = await house.startWorker()
  await house.settle(
    `INSERT INTO ${customers} VALUES ('k1', 'premium', 'a@example.com'), ('k2', 'free', NULL)`,
  )
  await pool.query(`UPDATE ${customers} SET ${q(EMAIL)} = 'b@example.com' WHERE ${q(KEY)} = 'k1'`)
  await house.settle(`INSERT INTO ${side} VALUES ('k2', 'x')`)
  expect(house.sandbox.users.get('k1')).toMatchObject({ status: 2, email: 'b@example.com' })
  await worker.stop()

  await pool.query(`TRUNCATE ${side}`)
  for (const args of [
    ['capture', 'resync'],
    ['sync', 'k1', 'k2'],
    ['sync', 'k1', '--dry-run'],
    ['backfill', '--mapping'],
    ['access', 'k1'],
    ['capture', 'install'],
  ])
    expect(await rollcall(...args), `${args}`).toEqual(fine)

  const role = hostile('R')
  await pool.query(`CREATE ROLE ${q(role)}`)
  try {
    const { script } = await grantsScript(pool, role, { kind: 'worker', config: house.config, queue: true })
    await pool.query(script)
    await pool.query(`SET ROLE ${q(role)}; SELECT ${q(KEY)}, ${q(EMAIL)} FROM ${customers}; RESET ROLE`)
  } finally {
    await administer(house.db.url, `DROP OWNED BY ${q(role)}`)
    await administer(house.db.url, `DROP ROLE ${q(role)}`)
  }
  expect((await pool.query(`SELECT to_regclass('public.canary') AS canary`)).rows).toEqual([
    { canary: 'canary' },
  ])
})
