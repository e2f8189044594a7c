import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { makeReading } from '../../src/customers/read.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

/** Customers with the SQL expression `plan` as their plan. */
async function readingOf(plan: string, onMisfits?: (misfits: readonly string[]) => void) {
  await db.sql(`DROP TABLE IF EXISTS clientes CASCADE; CREATE TABLE clientes (id text PRIMARY KEY, n int);
    INSERT INTO clientes SELECT k, ascii(k) - ascii('c') FROM unnest('{${KEYS.join()}}'::text[]) k;
    CREATE VIEW v_clientes AS SELECT id, ${plan} AS plan FROM clientes c`)
  const config = resolveConfig(
    {
      customers: { view: 'v_clientes', key: 'id' },
      watch: [{ table: 'clientes', key: 'id' }],
      mapping: { user_id: 'id', status: 'plan' },
    },
    'rollcall.config.ts',
  )
  const shape = await describeCustomers(db.pool, config)
  return makeReading(db.pool, config, shape, onMisfits)
}

test.each([
  ['a division by zero', '(2 / n)::text', '22012'],
  [
    'two rows of a subquery',
    `(SELECT 'x' FROM generate_series(1, CASE n WHEN 0 THEN 2 ELSE 1 END))`,
    '21000',
  ],
  ['an error that a function raises', 'raised(n)', 'P0001'],
])('%s costs one customer, and no other', async (_, plan, code) => {
  await db.sql(`CREATE OR REPLACE FUNCTION raised(n int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    IF n = 0 THEN RAISE EXCEPTION 'no'; END IF; RETURN 'x'; END $$`)
  const { rows, unreadable } = await (await readingOf(plan))([...KEYS, 'none'])
  expect([...unreadable].map(([key, error]) => [key, error])).toEqual([
    ['c', expect.objectContaining({ code })],
  ])
  expect([...rows.keys()].sort()).toEqual([...KEYS.filter((key) => key !== 'c'), 'none'].sort())
  expect(rows.get('none')).toBeNull()
})

test('a mistake of all rows is reported as that, also beside a row that is bad by itself', async () => {
  await db.sql(`CREATE OR REPLACE FUNCTION lost(n int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
    IF n = -2 THEN RETURN (2 / (n + 2))::text; END IF; RETURN nowhere_to_be_found(n); END $$`)
  await expect((await readingOf('lost(n)'))(KEYS)).rejects.toMatchObject({ code: 'CUSTOMERS_UNREADABLE' })
})

test('a mistake of all rows is one error that names it, each time', async () => {
  const reported: (readonly string[])[] = []
  const read = await readingOf(`'x'::text`, (misfits) => reported.push(misfits))
  await db.sql('DROP VIEW v_clientes')
  const details = [expect.stringContaining('public.v_clientes')]
  for (let n = 0; n < 2; n++)
    await expect(read(KEYS)).rejects.toMatchObject({ code: 'CUSTOMERS_UNREADABLE', details })
  expect(reported).toContainEqual(details)
})
