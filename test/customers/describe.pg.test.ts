import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { type CustomersShape, describeCustomers } from '../../src/customers/describe.ts'
import { RollcallError } from '../../src/model/errors.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

function configure(overrides: Partial<RollcallConfig> = {}): Config {
  return resolveConfig(
    {
      customers: { table: 'customers', key: 'id' },
      mapping: { user_id: 'id', status: 'plan', email: 'email' },
      ...overrides,
    },
    'rollcall.config.ts',
  )
}

async function database(tables: string): Promise<TestDatabase> {
  const db = await freshDatabase()
  await db.sql(tables)
  return db
}

async function details(described: Promise<CustomersShape>): Promise<readonly string[]> {
  const error = await described.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof RollcallError)) throw error ?? new Error('nothing was refused')
  expect(error.code).toBe('CUSTOMERS_UNREADABLE')
  return error.details
}

const PLAIN = 'CREATE TABLE customers (id bigint PRIMARY KEY, email varchar(80), plan text, other text)'

test('tells the key by which customers are read', async () => {
  await using db = await database(`CREATE DOMAIN code AS varchar(12); CREATE TYPE "Kind" AS ENUM ('a', 'b');
    CREATE TABLE customers (id code, kind "Kind", plan text, email varchar(80), other text, PRIMARY KEY (id, kind))`)
  const config = configure({
    customers: { table: 'customers', key: ['id', 'kind'] },
    scope: { column: 'other', in: ['x'] },
  })
  const plain = { operators: 'pg_catalog' }
  expect(await describeCustomers(db.pool, config)).toMatchObject({
    ...{ relation: { schema: 'public', name: 'customers' }, kind: 'table', warnings: [] },
    key: [
      { ...plain, name: 'id', type: 'code', cast: 'pg_catalog."varchar"', domain: true },
      { ...plain, name: 'kind', type: '"Kind"', cast: 'public."Kind"', base: { labels: ['a', 'b'] } },
    ],
  })
})

test('names every column that is missing, where it was named and what was probably meant', async () => {
  await using db = await database('CREATE TABLE customers (id_ int PRIMARY KEY, e_mail text, tariff text)')
  const config = configure({ scope: { column: 'activo', in: [true] } })
  expect(await details(describeCustomers(db.pool, config))).toEqual([
    expect.stringMatching(/^customers\.key: .* "id" .* id_\?$/),
    expect.stringMatching(/^mapping\.user_id: .* "id" .* id_\?$/),
    expect.stringMatching(/^mapping\.status: [^;]* "plan" [^;]*$/),
    expect.stringMatching(/^mapping\.email: .* "email" .* e_mail\?$/),
    expect.stringMatching(/^scope: [^;]* "activo" [^;]*$/),
    expect.stringMatching(/^watch\[0\]\.key: .* "id" .* id_\?$/),
  ])
})

test('a table that is not there: another schema and near spellings are offered', async () => {
  await using db = await database('CREATE SCHEMA shop; CREATE TABLE shop.customers (id int)')
  expect(await details(describeCustomers(db.pool, configure()))).toEqual([
    expect.stringMatching(/^customers: .* public\.customers; .* shop\.customers\?$/),
  ])
  await db.sql('CREATE TABLE custommers (id int); DROP TABLE shop.customers')
  expect(await details(describeCustomers(db.pool, configure()))).toEqual([
    expect.stringMatching(/^customers: .* public\.customers; .* public\.custommers\?$/),
  ])
})

test('refuses key types that have more than one text for a value', async () => {
  await using db = await database(PLAIN)
  const types = 'date timestamptz float8 money interval json jsonb bytea int[] boolean'
  for (const type of types.split(' ')) {
    await db.sql(`DROP TABLE customers; CREATE TABLE customers (id ${type}, email text, plan text)`)
    const [first] = await details(describeCustomers(db.pool, configure()))
    expect(first).toMatch(/^customers.key: id is of type .*uuid/)
  }
})

test('accepts key types that have one text', async () => {
  await using db = await database(
    `${PLAIN}; CREATE EXTENSION citext; CREATE DOMAIN d1 AS int; CREATE DOMAIN d2 AS d1`,
  )
  for (const type of 'int2 int4 int8 numeric text varchar char(5) citext uuid d2'.split(' ')) {
    await db.sql(
      `DROP TABLE customers; CREATE TABLE customers (id ${type} PRIMARY KEY, email text, plan text)`,
    )
    expect((await describeCustomers(db.pool, configure())).warnings, type).toEqual([])
  }
})

/** A session of the owner that may go on as a role of its own. */
async function sessionWithRole(db: TestDatabase) {
  const client = await db.pool.connect()
  const { name } = await db.makeRole()
  const asRole = (sql: string) =>
    client.query(`RESET ROLE; ${sql.replaceAll('ROLE', name)}; SET ROLE ${name}`)
  return { client, asRole, [Symbol.dispose]: () => client.release(true) }
}

test('a role without rights: the missing rights are named by column', async () => {
  await using db = await database(PLAIN)
  using session = await sessionWithRole(db)
  const { client, asRole } = session
  await asRole('GRANT SELECT (id, plan) ON customers TO ROLE')
  expect(await details(describeCustomers(client, configure()))).toEqual([
    expect.stringMatching(/^customers: .*SELECT .*: email$/),
  ])
  await asRole('GRANT SELECT ON customers TO ROLE')
  await describeCustomers(client, configure())
  await asRole(`CREATE VIEW seen WITH (security_invoker) AS SELECT * FROM customers;
    GRANT SELECT ON seen TO ROLE; REVOKE ALL ON customers FROM ROLE`)
  const watch = [{ table: 'customers', key: 'id' }]
  const byView = configure({ customers: { view: 'seen', key: 'id' }, watch })
  expect(await details(describeCustomers(client, byView))).toEqual([
    expect.stringContaining('permission denied'),
  ])
})

test('watched tables are held to the same: they exist, carry triggers and hold keys', async () => {
  await using db = await database(
    `${PLAIN}; CREATE TABLE side (customer int, "when" date); CREATE VIEW shown AS SELECT * FROM side`,
  )
  const config = configure({
    watch: [
      { table: 'customers', key: 'id' },
      { table: 'sides', key: 'customer' },
      { table: 'shown', key: 'customer' },
      { table: 'side', key: 'when', columns: ['custoner'] },
    ],
  })
  expect(await details(describeCustomers(db.pool, config))).toEqual([
    expect.stringMatching(/^watch\[1\]: .* public\.sides; .* public\.side\?$/),
    expect.stringMatching(/^watch\[2\]: public\.shown is no table/),
    expect.stringMatching(/^watch\[3\]\.columns: .* "custoner" .* customer\?$/),
    expect.stringMatching(/^watch\[3\]\.key: when .* date/),
  ])
})

test('warns of keys that are not unique, rows that are hidden and spellings that may differ', async () => {
  await using db = await database(`CREATE TABLE customers (id int, email text, plan text);
    CREATE UNIQUE INDEX ON customers (id) WHERE plan = 'x'; CREATE UNIQUE INDEX ON customers (id, plan);
    CREATE INDEX ON customers (id); CREATE UNIQUE INDEX ON customers ((id + 1));
    CREATE TABLE side (customer text); ALTER TABLE customers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`)
  using session = await sessionWithRole(db)
  const { client, asRole } = session
  const watch = [
    { table: 'customers', key: 'id' },
    { table: 'side', key: 'customer' },
  ]
  await asRole('GRANT SELECT ON customers TO ROLE')
  expect((await describeCustomers(client, configure({ watch }))).warnings).toEqual([
    expect.stringContaining('has no unique index'),
    expect.stringContaining('row-level security'),
    expect.stringMatching(/^watch\[1\]\.key: customer \(text\) .*\(id, integer\)/),
  ])
  await client.query('RESET ROLE; CREATE UNIQUE INDEX ON customers (id) INCLUDE (plan)')
  expect((await describeCustomers(client, configure())).warnings).toEqual([])
})
