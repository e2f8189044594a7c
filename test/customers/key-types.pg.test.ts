// Keys of types that another role owns: casts and operators of this role must not decide who a customer is.
import type pg from 'pg'
import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { readGiven } from '../../src/customers/given.ts'
import { makeReadKeys } from '../../src/customers/pages.ts'
import { makeReading } from '../../src/customers/read.ts'
import { freshDatabase } from '../support/database.ts'

const CONFIG = resolveConfig(
  {
    customers: { table: 'customers', key: ['land', 'id'] },
    mapping: { user_id: { columns: ['land', 'id'], map: () => 'x' }, status: 'plan' },
  },
  'rollcall.config.ts',
)

const ROWS = `CREATE TABLE customers (land landtype, id int, plan int, PRIMARY KEY (land, id));
  INSERT INTO customers VALUES ('es', 1, 2), ('pt', 2, 2)`
const KEYS = ['["es", "1"]', '["pt", "2"]']

async function everyKey(pool: pg.Pool) {
  const shape = await describeCustomers(pool, CONFIG)
  const { keys, next } = await makeReadKeys(shape, 1)(pool, null)
  const later = await makeReadKeys(shape, 2)(pool, next)
  const { rows } = await makeReading(pool, CONFIG, shape)(KEYS)
  const given = await readGiven(pool, shape, '["es","1"]')
  return { paged: [...keys, ...later.keys], found: KEYS.filter((key) => rows.get(key) !== null), given }
}
const ALL = { paged: KEYS, found: KEYS, given: KEYS[0] }

test.each([
  ['an enum', "CREATE TYPE landtype AS ENUM ('es', 'pt')"],
  ['a domain over an enum', "CREATE TYPE lands AS ENUM ('es', 'pt'); CREATE DOMAIN landtype AS lands"],
  ['a domain over a domain', 'CREATE DOMAIN texts AS text; CREATE DOMAIN landtype AS texts'],
  ['a domain over citext', 'CREATE EXTENSION citext; CREATE DOMAIN landtype AS citext'],
])('%s: every customer is found, on every page and by name', async (_, types) => {
  await using db = await freshDatabase()
  await db.sql(`${types}; ${ROWS}`)
  expect(await everyKey(db.pool)).toEqual(ALL)
})

test('a cast of the type to text, or from it, is no customer’s key', async () => {
  await using db = await freshDatabase()
  await db.sql(`CREATE TYPE landtype AS ENUM ('es', 'pt'); ${ROWS};
    CREATE FUNCTION named(landtype) RETURNS text LANGUAGE sql AS $$ SELECT 'Espana' $$;
    CREATE FUNCTION read(text) RETURNS landtype LANGUAGE sql AS $$ SELECT 'pt'::landtype $$;
    CREATE CAST (landtype AS text) WITH FUNCTION named(landtype) AS ASSIGNMENT;
    CREATE CAST (text AS landtype) WITH FUNCTION read(text) AS IMPLICIT`)
  expect(await everyKey(db.pool)).toEqual(ALL)
})

test.each(['citext', 'text'])('an operator that is made for a domain over %s is not asked', async (base) => {
  await using db = await freshDatabase()
  await db.sql(`CREATE EXTENSION citext; CREATE DOMAIN landtype AS ${base}; ${ROWS};
    CREATE FUNCTION never(landtype, ${base}) RETURNS bool LANGUAGE sql AS $$ SELECT false $$;
    CREATE OPERATOR public.= (leftarg = landtype, rightarg = ${base}, function = never);
    CREATE OPERATOR public.> (leftarg = landtype, rightarg = ${base}, function = never)`)
  expect(await everyKey(db.pool)).toEqual(ALL)
})

test.each([
  'CREATE DOMAIN landtype AS citext',
  'CREATE DOMAIN landtype AS numeric(12,2)',
  'char(12)',
  'numeric(12,2)',
  'varchar(12)',
  'citext',
])('an index on a key of %s serves a page, which is neither read as a whole nor sorted', async (type) => {
  await using db = await freshDatabase()
  const made = type.startsWith('CREATE')
  await db.sql(`CREATE EXTENSION citext; ${made ? type : ''};
    CREATE TABLE customers (land ${made ? 'landtype' : type}, id int, plan int, PRIMARY KEY (land, id));
    INSERT INTO customers VALUES ('1', 1, 2), ('2', 2, 2)`)
  const shape = await describeCustomers(db.pool, CONFIG)
  const session = await db.pool.connect()
  await session.query('SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off')
  const plans: string[] = []
  const explaining = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await session.query(`EXPLAIN ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return await db.sql({ text, values, rowMode: 'array' })
    },
  }
  const readKeys = makeReadKeys(shape, 1)
  const { next } = await readKeys(explaining as never, null)
  await readKeys(explaining as never, next)
  session.release(true)
  expect(plans).toHaveLength(2)
  for (const plan of plans) {
    expect(plan).toMatch(/Index.*Scan/)
    expect(plan).not.toMatch(/^[^:]*Seq Scan|^\s*->\s+Sort|^Sort/m)
  }
})

test('a domain over char(n) is refused: its padding would not be that of char(n)', async () => {
  await using db = await freshDatabase()
  await db.sql(`CREATE DOMAIN landtype AS char(4); ${ROWS}`)
  await expect(describeCustomers(db.pool, CONFIG)).rejects.toMatchObject({
    code: 'CUSTOMERS_UNREADABLE',
    details: expect.arrayContaining([expect.stringMatching(/land.*domain/)]),
  })
})
