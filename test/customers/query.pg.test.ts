// Customers of types and behind views that need more than Postgres' own schema, and behind policies.
import type pg from 'pg'
import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { readConditions } from '../../src/customers/conditions.ts'
import { describeCustomers, findMisfits } from '../../src/customers/describe.ts'
import { countCustomers, makeReadKeys } from '../../src/customers/pages.ts'
import { makeReading } from '../../src/customers/read.ts'
import { endPool, makePool } from '../../src/database/pool.ts'
import { RollcallError } from '../../src/model/errors.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

type Customers = { readonly view?: string; readonly searchPath?: string[]; readonly rowSecurity?: 'apply' }

function configure({ view, ...others }: Customers = {}, key: string | string[] = 'id') {
  return resolveConfig(
    {
      customers: { ...(view ? { view } : { table: 'customers' }), key, ...others },
      ...(view ? { watch: [{ table: 'customers', key }] } : {}),
      mapping: { user_id: { columns: [key].flat(), map: () => 'x' }, status: 'plan', email: 'email' },
    },
    'rollcall.config.ts',
  )
}

async function opened(sql: string): Promise<{ db: TestDatabase; pool: pg.Pool } & AsyncDisposable> {
  const db = await freshDatabase()
  await db.sql(sql)
  const role = await db.makeRole()
  await db.sql(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role.name}`)
  const pool = makePool({ url: role.url, max: 2, onError: () => undefined })
  const close = async () => {
    await endPool(pool, 0)
    await db.drop()
  }
  return { db, pool, [Symbol.asyncDispose]: close }
}

test('a citext key among others: every page in one order, and each customer once', async () => {
  await using open = await opened(`CREATE SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC;
    CREATE EXTENSION citext SCHEMA ext;
    CREATE TABLE customers (shop int, id ext.citext, plan int, email text);
    INSERT INTO customers SELECT 1, k::ext.citext, 2, NULL FROM unnest('{a,B,c,D,e,F,é,Z,zz,_}'::text[]) k`)
  const { pool } = open
  const readKeys = makeReadKeys(await describeCustomers(pool, configure({}, ['shop', 'id'])), 1)
  const seen: string[] = []
  for (let after: readonly string[] | null = null; ; ) {
    const page = await readKeys(pool, after)
    seen.push(...page.keys)
    after = page.next
    if (!after) break
  }
  expect([seen.length, new Set(seen).size]).toEqual([10, 10])
})

test('a condition on citext compares as citext does', async () => {
  await using open = await opened(`CREATE EXTENSION citext;
    CREATE TABLE customers (id int PRIMARY KEY, plan int, email citext);
    INSERT INTO customers VALUES (1, 2, 'Ana@x.example'), (2, 2, 'b@x.example')`)
  const { pool } = open
  const config = configure()
  const shape = await describeCustomers(pool, config)
  for (const [text, count] of [
    ['email=ANA@X.EXAMPLE', 1],
    ['email!=ANA@X.EXAMPLE', 1],
    ['email in ANA@X.EXAMPLE,B@X.EXAMPLE', 2],
    ['email>=B', 1],
  ] as const) {
    const conditions = await readConditions(pool, config, [text])
    expect(await countCustomers(pool, shape, conditions), text).toBe(count)
  }
})

const ONE = 'CREATE POLICY one ON customers USING (id = 1)'
const POLICY = `CREATE TABLE customers (id int PRIMARY KEY, plan int, email text);
  INSERT INTO customers VALUES (1, 2), (2, 2);
  ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
  ${ONE}`

test('a policy that hides rows is an error, in words, and no customer is read as gone', async () => {
  await using open = await opened('CREATE TABLE customers (id int PRIMARY KEY, plan int, email text)')
  const { db, pool } = open
  const config = configure()
  const read = makeReading(pool, config, await describeCustomers(pool, config))
  await db.sql(POLICY.slice(POLICY.indexOf('INSERT')))
  const refused = {
    code: 'CUSTOMERS_UNREADABLE',
    details: [expect.stringContaining("rowSecurity to 'apply'")],
  }
  await expect(read(['1', '2'])).rejects.toMatchObject(refused)
  await expect(describeCustomers(pool, config)).rejects.toMatchObject(refused)
  expect(await findMisfits(pool, config)).toEqual(refused.details)
})

test('behind a view that reads with the rights of its reader, too', async () => {
  await using open = await opened(
    `${POLICY}; CREATE VIEW v WITH (security_invoker) AS SELECT * FROM customers`,
  )
  await expect(describeCustomers(open.pool, configure({ view: 'v' }))).rejects.toMatchObject({
    code: 'CUSTOMERS_UNREADABLE',
  })
})

test('where the operator says that the policies show every customer, they apply', async () => {
  await using open = await opened(POLICY)
  const { pool } = open
  const config = configure({ rowSecurity: 'apply' })
  const shape = await describeCustomers(pool, config)
  expect(shape.warnings).toEqual([expect.stringContaining('row-level security')])
  const { rows } = await makeReading(pool, config, shape)(['1', '2'])
  expect([...rows.values()].map((row) => row !== null)).toEqual([true, false])
  expect(await countCustomers(pool, shape, [])).toBe(1)
  expect((await pool.query('SHOW row_security')).rows).toEqual([{ row_security: 'off' }])
})

test('where policies apply, one that is gone accuses no customer of being gone', async () => {
  await using open = await opened(POLICY)
  const { db, pool } = open
  const config = configure({ rowSecurity: 'apply' })
  const read = makeReading(pool, config, await describeCustomers(pool, config))
  expect((await read(['2'])).rows.get('2')).toBeNull()
  await db.sql('DROP POLICY one ON customers')
  await expect(read(['2'])).rejects.toMatchObject({
    code: 'CUSTOMERS_UNREADABLE',
    details: [expect.stringContaining('no row at all')],
  })
  expect((await read([])).rows.size).toBe(0)
})

test('nor one that is made anew while customers are read', async () => {
  await using open = await opened(POLICY)
  const { db, pool } = open
  const config = configure({ rowSecurity: 'apply' })
  const read = makeReading(pool, config, await describeCustomers(pool, config))
  let going = true
  const seen: string[] = []
  const readers = [1, 2, 3].map(async () => {
    while (going)
      seen.push(
        await read(['1']).then(
          ({ rows }) => (rows.get('1') === null ? 'gone' : 'there'),
          (error: unknown) => (error instanceof RollcallError ? error.code : String(error)),
        ),
      )
  })
  for (let i = 0; i < 80; i++) {
    await db.sql('DROP POLICY one ON customers')
    await db.sql(ONE)
  }
  going = false
  await Promise.all(readers)
  expect([...new Set(seen)].filter((said) => said !== 'CUSTOMERS_UNREADABLE')).toEqual(['there'])
})

const VIEW = `CREATE TABLE customers (id int PRIMARY KEY, plan int, email text);
  INSERT INTO customers VALUES (1, 2, 'a@x.example'), (2, 2, 'b@x.example');
  CREATE FUNCTION domain_of(e text) RETURNS text LANGUAGE plpgsql STABLE AS
    $$ DECLARE n int; BEGIN SELECT count(*) INTO n FROM customers; RETURN upper(e) || n; END $$;
  CREATE VIEW v AS SELECT id, plan, domain_of(email) AS email FROM customers`

test('a function behind a view finds what the configuration names, and no other statement of ours does', async () => {
  await using open = await opened(VIEW)
  const { pool } = open
  const bare = configure({ view: 'v' })
  const described = await describeCustomers(pool, bare)
  expect(described.warnings).toEqual([expect.stringContaining('public.domain_of')])
  const fails = makeReading(pool, bare, described)
  await expect(fails(['1'])).rejects.toMatchObject({
    code: 'CUSTOMERS_UNREADABLE',
    details: [expect.stringContaining('customers.searchPath')],
  })
  const config = configure({ view: 'v', searchPath: ['public'] })
  const shape = await describeCustomers(pool, config)
  expect(shape.warnings).toEqual([])
  const read = makeReading(pool, config, shape)
  const both = await Promise.all([read(['1']), read(['2'])])
  expect(both.map(({ rows }) => [...rows.values()])).toMatchObject([
    [{ email: 'A@X.EXAMPLE2' }],
    [{ email: 'B@X.EXAMPLE2' }],
  ])
  expect((await pool.query('SHOW search_path')).rows).toEqual([{ search_path: 'pg_catalog, pg_temp' }])
})

test.each([
  ['the key gets another type', 'ALTER TABLE customers ALTER id TYPE uuid USING id::uuid'],
  [
    'its type goes to another schema',
    'CREATE SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC; ALTER EXTENSION citext SET SCHEMA ext',
  ],
])('%s while a worker runs: it is read on', async (_what, change) => {
  const key = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
  await using open = await opened(`CREATE EXTENSION citext;
    CREATE TABLE customers (id citext PRIMARY KEY, plan int, email text); INSERT INTO customers VALUES ('${key}', 2)`)
  const { db, pool } = open
  const config = configure()
  const read = makeReading(pool, config, await describeCustomers(pool, config))
  await db.sql(change)
  expect((await read([key])).rows.get(key)).toMatchObject({ plan: 2 })
})

test('a key that only the new type of its column can hold is found, also just after another look', async () => {
  await using open = await opened(`CREATE TABLE customers (id int PRIMARY KEY, plan int, email text)`)
  const { db, pool } = open
  const config = configure()
  const read = makeReading(pool, config, await describeCustomers(pool, config))
  expect((await read(['3000000000'])).rows.get('3000000000')).toBeNull()
  await db.sql('ALTER TABLE customers ALTER id TYPE bigint; INSERT INTO customers VALUES (3000000000, 2)')
  expect((await read(['3000000000'])).rows.get('3000000000')).toMatchObject({ plan: 2 })
})

test('where no policy applies to the role, an empty table is empty', async () => {
  await using open = await opened('CREATE TABLE customers (id int PRIMARY KEY, plan int, email text)')
  const config = configure({ rowSecurity: 'apply' })
  const read = makeReading(open.pool, config, await describeCustomers(open.pool, config))
  expect((await read(['1'])).rows.get('1')).toBeNull()
})
