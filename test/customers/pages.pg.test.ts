import type pg from 'pg'
import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import type { Condition } from '../../src/customers/conditions.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { type KeyCursor, makeReadKeys } from '../../src/customers/pages.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())

type Client = Pick<pg.ClientBase, 'query'>

/** Every key, read in pages of this size, and how many statements it took. */
async function paged(
  table: string,
  key: readonly string[],
  limit: number,
  { client = db.pool, conditions = [] }: { client?: Client; conditions?: readonly Condition[] } = {},
) {
  const config = resolveConfig(
    {
      customers: { table: `public.${table}`, key: [...key] },
      mapping: {
        user_id: { columns: [...key], map: (row: object) => JSON.stringify(row) },
        status: { value: 2 },
      },
    },
    'rollcall.config.ts',
  )
  const readKeys = makeReadKeys(await describeCustomers(db.pool, config), limit, conditions)
  const keys: string[] = []
  let pages = 0
  let cursor: KeyCursor | null = null
  do {
    const page: Awaited<ReturnType<typeof readKeys>> = await readKeys(client, cursor)
    expect(page.keys.length).toBeLessThanOrEqual(limit)
    keys.push(...page.keys)
    cursor = page.next
    pages++
  } while (cursor)
  return { keys, pages }
}

test('a text that is too long for a key is no customer, and not read', async () => {
  await db.sql(`CREATE TABLE long (id text); INSERT INTO long VALUES ('a'), (repeat('b', 3000000)), ('c'),
    (repeat('b', 2000))`)
  expect(await paged('long', ['id'], 2)).toMatchObject({ keys: ['a', 'b'.repeat(2000), 'c'] })
})

test('keys that their type takes for equal are distinguished by their text, also over the end of a page', async () => {
  await db.sql(`CREATE TABLE amounts (id numeric); INSERT INTO amounts
    VALUES ('1'), ('1.0'), ('1.00'), ('1.000'), ('2'), ('2.0'), (NULL)`)
  for (const limit of [1, 2, 3, 4]) {
    const { keys } = await paged('amounts', ['id'], limit)
    expect(keys).toEqual(['1', '1.0', '1.00', '1.000', '2', '2.0'])
  }
})

const ODD = [
  '',
  ' ',
  'a',
  'A',
  'á',
  'b c',
  "o'k",
  '"',
  '\\',
  '%',
  '_',
  '[1, 2]',
  '\u{1f600}',
  'z'.repeat(300),
]

test('each key once, in pages of any size', async () => {
  await db.sql('CREATE TABLE texts (id text PRIMARY KEY)')
  await db.sql('INSERT INTO texts SELECT unnest($1::text[])', [ODD])
  for (const limit of [1, 2, 3, ODD.length, 100]) {
    const { keys } = await paged('texts', ['id'], limit)
    expect(keys.toSorted()).toEqual(ODD.toSorted())
  }
})

test('a later page is read from the index, and no more of it than the page', async () => {
  await db.sql('CREATE TABLE many (a int, b int, rest text, PRIMARY KEY (a, b))')
  await db.sql(`INSERT INTO many SELECT i % 100, i, 'x' FROM generate_series(1, 20000) i`)
  await db.sql('ANALYZE many')
  // One session, since each reports its own counts.
  const client = await db.pool.connect()
  const seen = async () => {
    await client.query('SELECT pg_stat_force_next_flush()')
    const { rows } = await client.query<{ scans: number; read: number }>(
      `SELECT seq_scan::int AS scans, idx_tup_read::int AS read FROM pg_stat_user_tables t
       JOIN pg_stat_user_indexes i USING (relid) WHERE t.relname = 'many'`,
    )
    return rows[0] ?? { scans: 0, read: 0 }
  }
  const before = await seen()
  const { pages } = await paged('many', ['a', 'b'], 1000, { client })
  const after = await seen()
  client.release()
  expect(pages).toBe(21)
  expect(after.scans).toBe(before.scans)
  expect(after.read - before.read).toBeGreaterThanOrEqual(20_000)
  expect(after.read - before.read).toBeLessThan(30_000)
})

test('only those for which every condition holds, in pages of any size, whatever columns and values are called', async () => {
  await db.sql(`CREATE TABLE chosen (a text, b int, "the ""plan""" text, since date, PRIMARY KEY (a, b))`)
  await db.sql(
    `INSERT INTO chosen SELECT p, n, CASE n % 3 WHEN 0 THEN 'it''s' WHEN 1 THEN '; DROP' END, date '2026-01-01' + n
     FROM unnest(ARRAY['x', 'Y', '"']) p, generate_series(1, 9) n`,
  )
  const plan = { name: 'the "plan"', type: 'text', cast: 'text', operators: 'pg_catalog', domain: false }
  const since = { name: 'since', type: 'date', cast: 'date', operators: 'pg_catalog', domain: false }
  const cases: [readonly Condition[], string][] = [
    [[{ ...plan, operator: '=', values: [`it's`] }], `"the ""plan""" = 'it''s'`],
    [[{ ...plan, operator: 'in', values: [`it's`, '; DROP'] }], `"the ""plan""" IS NOT NULL`],
    [[{ ...plan, operator: 'is null', values: [] }], `"the ""plan""" IS NULL`],
    [
      [
        { ...plan, operator: 'is not null', values: [] },
        { ...since, operator: '>=', values: ['2026-01-04'] },
        {
          name: 'b',
          type: 'integer',
          cast: 'integer',
          operators: 'pg_catalog',
          domain: false,
          operator: '<',
          values: ['8'],
        },
      ],
      `"the ""plan""" IS NOT NULL AND since >= '2026-01-04' AND b < 8`,
    ],
    [[{ ...since, operator: '<>', values: ['2026-01-04'] }], `since <> '2026-01-04'`],
  ]
  for (const [conditions, where] of cases) {
    const { rows } = await db.sql<{ key: string }>(
      `SELECT jsonb_build_array(a, b::text)::text AS key FROM chosen WHERE ${where}`,
    )
    expect(rows.length).toBeGreaterThan(3)
    for (const limit of [1, 4, 100]) {
      const { keys } = await paged('chosen', ['a', 'b'], limit, { conditions })
      expect(keys.toSorted()).toEqual(rows.map(({ key }) => key).toSorted())
    }
  }
})
