import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { describeCustomers } from '../../src/customers/describe.ts'
import { readGiven, spaced } from '../../src/customers/given.ts'
import { makePool } from '../../src/database/pool.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())
let pool: pg.Pool
beforeAll(async () => {
  await db.sql(
    `CREATE TYPE tier AS ENUM ('Gold', 'it''s'); CREATE DOMAIN badge AS int CHECK (VALUE > 0);
     CREATE TABLE customers (int2 int2, int8 int8, uuid uuid, price numeric, code varchar(3), name text, padded char(5),
       tier tier, badge badge, plan text)`,
  )
  pool = makePool({ url: db.url, max: 2, onError: () => undefined })
})
afterAll(() => pool.end())

async function read(columns: readonly string[], given: string): Promise<string | null> {
  const config = resolveConfig(
    {
      customers: { table: 'customers', key: columns },
      mapping: { user_id: { columns: [...columns], map: () => 'x' }, status: 'plan' },
    },
    'rollcall.config.ts',
  )
  return await readGiven(pool, await describeCustomers(pool, config), given)
}

describe('readGiven', () => {
  for (const [column, given, key] of [
    ['int2', '007', '7'],
    ['int2', '40000', null],
    ['int8', ' -0 ', '0'],
    ['int8', '9223372036854775807', '9223372036854775807'],
    ['int8', '9223372036854775808', null],
    ['int8', '1; DROP TABLE customers', null],
    ['uuid', '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['price', '1e2', '100'],
    // Cut off it would be another customer.
    ['code', 'abcd', 'abcd'],
    ['name', '["a","b"]', '["a","b"]'],
    ['name', 'a\0', null],
    ['name', '\ud800', null],
    ['padded', 'ab   ', 'ab'],
    ['tier', "it's", "it's"],
    ['tier', 'gold', null],
    ['badge', '05', '5'],
  ] as const)
    test(`${column}: ${JSON.stringify(given)} is ${JSON.stringify(key)}`, async () => {
      expect(await read([column], given)).toBe(key)
    })

  test('each part of a key of several columns is read as its own', async () => {
    const columns = ['name', 'int8']
    expect(await read(columns, '["a \\"b\\" ñ","0042"]')).toBe('["a \\"b\\" ñ", "42"]')
    expect(await read(columns, '["1",2]')).toBe('["1", "2"]')
    // JSON would read it as another number.
    expect(await read(columns, '["1",9007199254740993]')).toBeNull()
    for (const wrong of [
      '["a"]',
      '["a","1","2"]',
      '{"0":"a","1":"1"}',
      '["a",null]',
      '["a",["1"]]',
      '["a","1"',
      'a',
    ])
      expect([wrong, await read(columns, wrong)]).toEqual([wrong, null])
  })
})

test('without types, a key of several parts gets the spaces of the tables', () => {
  expect(spaced('["ES","4711"]')).toBe('["ES", "4711"]')
  expect(spaced('["ES",4711,"x"]')).toBe('["ES", "4711", "x"]')
  for (const other of ['4711', '["ES"]', '[', 'ES,4711', '["ES",{}]'])
    expect([other, spaced(other)]).toEqual([other, null])
})
