import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { MOST_COLUMN_BYTES, TooLarge } from '../../src/config/source.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { makeReadCustomers, type ReadCustomers } from '../../src/customers/read.ts'
import { makePool } from '../../src/database/pool.ts'
import { MOST_FIELD_BYTES } from '../../src/model/formats.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())
let pool: pg.Pool
beforeAll(async () => {
  await db.sql('CREATE EXTENSION citext')
  pool = makePool({ url: db.url, max: 2, onError: () => undefined })
})
afterAll(() => pool.end())

function configure(key: string | readonly string[], relation: object = { table: 'customers' }): Config {
  const columns = typeof key === 'string' ? [key] : key
  return resolveConfig(
    {
      customers: { ...relation, key },
      ...('view' in relation ? { watch: [{ table: 'customers', key }] } : {}),
      mapping: { user_id: { columns, map: () => 'x' }, status: 'plan' },
    },
    'rollcall.config.ts',
  )
}

async function reader(config: Config): Promise<ReadCustomers> {
  return makeReadCustomers(config, await describeCustomers(pool, config))
}

async function readAll(config: Config, keys: readonly string[]): Promise<Record<string, unknown>> {
  return Object.fromEntries(await (await reader(config))(pool, keys))
}

async function table(sql: string): Promise<void> {
  await db.sql(`DROP TABLE IF EXISTS customers CASCADE; ${sql}`)
}

describe('readCustomers', () => {
  test('answers for every key asked, with the named columns alone', async () => {
    await table(`CREATE TABLE customers (id int PRIMARY KEY, plan text, secret text);
      INSERT INTO customers VALUES (1, 'free', 's'), (2, NULL, 's')`)
    expect(await readAll(configure('id'), ['1', '2', '3', '1'])).toEqual({
      1: { id: 1, plan: 'free' },
      2: { id: 2, plan: null },
      3: null,
    })
    expect(await readAll(configure('id'), [])).toEqual({})
  })

  for (const [type, good, bad] of [
    ['smallint', '-7', ['abc', '007', '', ' 1', '1.0', '40000', '1e2', '-0', '\0']],
    ['bigint', '9007199254740993', ['9223372036854775808', '99999999999999999999', '+1']],
    ['numeric(12,2)', '10.50', ['10.5', 'ten', '1e5', '0x1', `1${'0'.repeat(140_000)}`]],
    ['uuid', '0b7f6c1e-3c5e-4a53-9b1e-2f5a4d3c2b1a', ['0B7F6C1E-3C5E-4A53-9B1E-2F5A4D3C2B1A', 'x', '{}']],
    ['varchar(5)', 'ñandú', ['ñandúes', 'a\0b', '\ud800']],
    ['char(5)', 'ab', ['ab   ', 'abcdef']],
    ['citext', 'Ana', ['ana', 'ANA']],
    ['text', `"it's", \\{}`, ["it's", 'NULL']],
  ] as const) {
    test(`${type}: malformed keys and other spellings are absent and break nothing`, async () => {
      await table(`CREATE TABLE customers (id ${type} PRIMARY KEY, plan text)`)
      await db.sql(`INSERT INTO customers VALUES ($1, 'free')`, [good])
      const found = await readAll(configure('id'), [...bad, good])
      expect(found[good]).toMatchObject({ plan: 'free' })
      for (const key of bad) expect(found[key], key.slice(0, 50)).toBeNull()
    })
  }

  test('enums and domains, also those that check', async () => {
    await table(`DROP DOMAIN IF EXISTS even; CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0); CREATE TYPE kind AS ENUM ('a', 'b c');
      CREATE TABLE customers (id even, kind kind, plan text, PRIMARY KEY (id, kind)); INSERT INTO customers VALUES (2, 'b c', 'free')`)
    expect(
      await readAll(configure(['id', 'kind']), [
        '["2", "b c"]',
        '["3", "a"]',
        '["2", "z"]',
        '2',
        '["2"]',
        '["2", null]',
      ]),
    ).toEqual({
      '["2", "b c"]': { id: 2, kind: 'b c', plan: 'free' },
      '["3", "a"]': null,
      '["2", "z"]': null,
      2: null,
      '["2"]': null,
      '["2", null]': null,
    })
  })

  test('several rows for one key are ambiguous, and only that key', async () => {
    await table(
      `CREATE TABLE customers (id text, plan text); INSERT INTO customers VALUES ('a', 'x'), ('a', 'y'), ('a', 'z'), ('b', 'x')`,
    )
    expect(await readAll(configure('id'), ['a', 'b'])).toEqual({ a: 'ambiguous', b: { id: 'b', plan: 'x' } })
  })

  test('names of any spelling', async () => {
    await table(`DROP SCHEMA IF EXISTS "a b" CASCADE; CREATE SCHEMA "a b"; CREATE TABLE "a b"."c""d" ("sel ect" int PRIMARY KEY, plan text);
      INSERT INTO "a b"."c""d" VALUES (1, 'free')`)
    const config = configure('sel ect', { table: '"a b"."c""d"' })
    expect(await readAll(config, ['1'])).toEqual({ 1: { 'sel ect': 1, plan: 'free' } })
  })

  test('uses the index of the key, also behind a view that groups, whatever the type', async () => {
    for (const type of ['int', 'varchar(20)', 'uuid', 'citext']) {
      const value = type === 'uuid' ? 'md5(i::text)::uuid' : `i::${type}`
      await table(`CREATE TABLE customers (id ${type} PRIMARY KEY, plan text); INSERT INTO customers SELECT ${value}, 'free' FROM generate_series(1, 20000) i;
        ANALYZE customers; CREATE VIEW grouped AS SELECT id, max(plan) AS plan FROM customers GROUP BY id`)
      const { rows } = await db.sql('SELECT id::text AS id FROM customers LIMIT 50')
      const keys = rows.map(({ id }) => id)
      for (const relation of [{ table: 'customers' }, { view: 'grouped' }]) {
        const read = await reader(configure('id', relation))
        // A plan that memoizes also compares, and so reads the whole table.
        expect(await plan(read, keys), type).not.toMatch(/Seq Scan|Memoize/)
      }
    }
  })
})

describe('a value above the limit of its column', () => {
  const inFunction = (column: string) => ({
    ...{ customers: { table: 'customers', key: 'id' } },
    mapping: { user_id: 'id', status: 'plan', description: { columns: [column], map: () => null } },
  })
  const tooLarge = new TooLarge(MOST_FIELD_BYTES)

  test('is not read, and the other columns are', async () => {
    await table(`CREATE TABLE customers (id int PRIMARY KEY, plan text, nombre varchar);
      INSERT INTO customers VALUES (1, repeat('x', 3000000), 'Ana'), (2, repeat('x', 8192), repeat('ñ', 4096)),
        (3, repeat('x', 8193), repeat('ñ', 4097))`)
    const mapping = { user_id: 'id', status: 'plan', first_name: 'nombre' }
    const config = resolveConfig(
      { customers: { table: 'customers', key: 'id' }, mapping },
      'rollcall.config.ts',
    )
    expect(await readAll(config, ['1', '2', '3'])).toEqual({
      1: { id: 1, plan: tooLarge, nombre: 'Ana' },
      2: { id: 2, plan: 'x'.repeat(8192), nombre: 'ñ'.repeat(4096) },
      3: { id: 3, plan: tooLarge, nombre: tooLarge },
    })
  })

  test.each([
    ['text', `repeat('x', 65536)`, `repeat('x', 65537)`],
    ['citext', `repeat('x', 65536)`, `repeat('x', 3000000)`],
    ['json', `to_json(repeat('x', 65534))`, `to_json(repeat('x', 65535))`],
    [
      'jsonb',
      `to_jsonb(ARRAY(SELECT generate_series(1, 3000)))`,
      `to_jsonb(ARRAY(SELECT generate_series(1, 300000)))`,
    ],
    ['int[]', `ARRAY(SELECT generate_series(1, 10000))`, `ARRAY(SELECT generate_series(1, 20000))`],
    ['bytea', `decode(repeat('00', 32767), 'hex')`, `decode(repeat('00', 32768), 'hex')`],
    ['numeric', `1e60000::numeric`, `1e70000::numeric`],
    ['few', `repeat('x', 65536)`, `repeat('x', 3000000)`],
  ])('is found by what is printed, for a function of a %s', async (type, fits, large) => {
    await db.sql('DROP DOMAIN IF EXISTS few CASCADE; CREATE DOMAIN few AS text')
    await table(`CREATE TABLE customers (id int PRIMARY KEY, plan text, value ${type});
      INSERT INTO customers VALUES (1, '2', ${fits}), (2, '2', ${large}), (3, '2', NULL)`)
    const read = await readAll(resolveConfig(inFunction('value'), 'rollcall.config.ts'), ['1', '2', '3'])
    const none = new TooLarge(MOST_COLUMN_BYTES)
    expect(read).toMatchObject({ 2: { plan: '2', value: none }, 3: { value: null } })
    expect(read[1]).not.toMatchObject({ value: none })
  })

  test('is found also where the type of the column has changed since the start', async () => {
    await table(`CREATE TABLE customers (id int PRIMARY KEY, plan int)`)
    const read = await reader(configure('id'))
    await db.sql(`ALTER TABLE customers ALTER plan TYPE json USING to_json(plan);
      INSERT INTO customers VALUES (1, to_json(repeat('x', 9000))), (2, '{"a": null}'), (3, 'null')`)
    expect(Object.fromEntries(await read(pool, ['1', '2', '3']))).toEqual({
      1: { id: 1, plan: tooLarge },
      2: { id: 2, plan: { a: null } },
      3: { id: 3, plan: null },
    })
  })
})

async function plan(read: ReadCustomers, keys: readonly string[]): Promise<string> {
  let lines: string[] = []
  const explaining = {
    query: async (query: { text: string; values: unknown[] }) => {
      const { rows } = await pool.query({ ...query, text: `EXPLAIN ${query.text}`, rowMode: 'array' })
      lines = rows.map(([line]) => String(line))
      return { rows: [] }
    },
  }
  await read(explaining as unknown as pg.ClientBase, keys)
  return lines.join('\n')
}

test('makePool reads every type without loss, and day, month and zone as the application does', async () => {
  await db.sql(`ALTER DATABASE ${db.name} SET timezone = 'Europe/Madrid'; ALTER DATABASE ${db.name} SET datestyle = 'German';
    ALTER DATABASE ${db.name} SET intervalstyle = 'iso_8601'; ALTER DATABASE ${db.name} SET extra_float_digits = -3`)
  const ours = makePool({
    url: `${db.url}?options=-c%20datestyle%3DDMY%20-c%20work_mem%3D5MB`,
    max: 1,
    onError: () => undefined,
  })
  const values: readonly (readonly [sql: string, read: unknown])[] = [
    [`'1990-03-25'::date`, '1990-03-25'],
    [`'2026-03-29 02:30'::timestamp`, '2026-03-29 02:30:00'],
    [`'2026-03-29 02:30+02'::timestamptz`, '2026-03-29 01:30:00+01'],
    [`'03/04/1990'::text::date`, '1990-04-03'],
    ['9007199254740993::int8', '9007199254740993'],
    ['10.50::numeric', '10.50'],
    [`'1 day'::interval`, '1 day'],
    ['7::int2', 7],
    ['8::int4', 8],
    ['0.1::float8', 0.1],
    ['true', true],
    [`'{"a":[1]}'::json`, { a: [1] }],
    [`'[2]'::jsonb`, [2]],
    ['ARRAY[1]', '{1}'],
    [`current_setting('work_mem')`, '5MB'],
    [`current_setting('application_name')`, 'rollcall'],
  ]
  try {
    const text = `SELECT ${values.map(([sql]) => sql).join()}`
    const { rows } = await ours.query({ text, rowMode: 'array' })
    expect(rows).toEqual([values.map(([, read]) => read)])
  } finally {
    await ours.end()
  }
})
