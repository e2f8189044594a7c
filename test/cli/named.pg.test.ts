// Keys as people type them: read as their columns read them, and a typing error harms no customer.
import { beforeAll, describe, expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

const STATUS = { column: 'plan', values: { free: 0, premium: 2 } }

async function traces(house: House) {
  const { rows } = await house.sql(
    'SELECT key FROM rollcall.owed UNION SELECT key FROM rollcall.ledger ORDER BY key',
  )
  return { keys: rows.map(({ key }) => key), calls: house.calls().length }
}

describe('with a key of two columns', () => {
  let house: House
  beforeAll(async () => {
    house = await buildHouse(lane, {
      sql: `CREATE TABLE clientes (pais char(2), numero bigint, plan text, PRIMARY KEY (pais, numero))`,
      config: {
        customers: { table: 'public.clientes', key: ['pais', 'numero'] },
        mapping: { user_id: 'numero', status: STATUS },
      },
    })
    await house.sql(`INSERT INTO clientes VALUES ('ES', 105, 'premium')`)
    expect((await rollcall(house, 'sync', '["ES", "105"]')).code).toBe(0)
    return () => house[Symbol.asyncDispose]()
  })

  test('a key without the space, with a number or with zeros before it is the same customer', async () => {
    const before = await traces(house)
    expect(before.keys).toEqual(['["ES", "105"]'])
    for (const typed of ['["ES","105"]', '["ES",105]', '[ "ES" , "00105" ]']) {
      for (const [command = '', ...more] of [['sync', '--dry-run'], ['explain'], ['sync']]) {
        const { code, out, err } = await rollcall(house, command, typed, ...more)
        // Where only the spaces are others there is nothing to note.
        const note = typed === '["ES","105"]' ? '' : `note: ${typed} is read as ["ES", "105"]`
        expect([typed, more, code, err]).toEqual([typed, more, 0, note])
        expect(out).toContain('customer ["ES", "105"] ')
      }
    }
    expect((await rollcall(house, 'access', '["ES",105]')).code).toBe(0)
    expect((await rollcall(house, 'sync', '--lookup', '["ES",105]')).code).toBe(0)
    expect(house.sandbox.users.get('105')?.status).toBe(2)
    expect((await traces(house)).keys).toEqual(before.keys)
    expect(house.calls().filter(({ method }) => method !== 'GET')).toHaveLength(1)
  })

  test('a command that reads no configuration knows it without the space, too', async () => {
    for (const args of [['failures'], ['held']]) {
      const { code, out, err } = await rollcall(house, ...args, '["ES","105"]')
      expect([args, code, out + err]).toEqual([
        args,
        0,
        expect.not.stringContaining('rollcall has no record'),
      ])
    }
    expect((await rollcall(house, 'failures', '["ES","106"]')).code).toBe(3)
  })

  test('what cannot be a key is refused, says what a key looks like, and leaves nothing behind', async () => {
    const before = await traces(house)
    for (const typed of [
      'foo',
      '105',
      '["ES"]',
      '["ES","x"]',
      '["ES",1.5]',
      '["ES",null]',
      '["E\\u0000","1"]',
    ])
      for (const command of [
        ['sync'],
        ['sync', '--removed'],
        ['sync', '--dry-run'],
        ['explain'],
        ['access'],
      ]) {
        const { code, out, err } = await rollcall(house, ...command, '["ES", "105"]', typed)
        expect([command, typed, code, out]).toEqual([command, typed, 2, ''])
        expect(err).toContain(`${typed} does not fit the key: expected`)
        expect(err).toMatch(/2 strings .*, one .*pais .*numero /)
        expect(err).not.toMatch(/invalid input|syntax/)
      }
    expect(await traces(house)).toEqual(before)
  })
})

test('a key that is not known is refused before anything is noted or called, and --removed insists', async () => {
  await using house = await buildHouse(lane, {
    sql: `CREATE TABLE clientes (id bigint PRIMARY KEY, plan text)`,
    config: {
      customers: { table: 'public.clientes', key: 'id' },
      mapping: { user_id: 'id', status: STATUS },
    },
  })
  const { users } = house.sandbox
  await house.sql(`INSERT INTO clientes VALUES (4711, 'premium'), (5, 'premium')`)
  const first = await rollcall(house, 'sync', '04711', '5')
  expect([first.code, first.err]).toEqual([0, 'note: 04711 is read as 4711'])
  users.set('4712', { status: 2 })
  const before = await traces(house)
  expect(before.keys).toEqual(['4711', '5'])

  for (const more of [[], ['--lookup'], ['--dry-run'], ['--json']]) {
    const { code, out, err } = await rollcall(house, 'sync', '4711', '4712', ...more)
    expect([more, code, out]).toEqual([more, 2, ''])
    expect(err).toMatch(/no row .*4712/)
    expect(err).toContain('--removed')
  }
  const odd = await rollcall(house, 'sync', '4711x')
  expect([odd.code, odd.err]).toEqual([
    2,
    expect.stringContaining('4711x does not fit the key: expected id (bigint)'),
  ])
  expect(await traces(house)).toEqual(before)

  // A record, or a captured removal, shows that the key was a customer.
  await house.sql(`DELETE FROM clientes WHERE id = 4711`)
  expect((await rollcall(house, 'sync', '04711')).code).toBe(0)
  expect(users.get('4711')?.status).toBe(0)
  await house.sql(`INSERT INTO clientes VALUES (6, 'premium'); DELETE FROM clientes WHERE id = 6`)
  expect((await rollcall(house, 'sync', '6', '--dry-run')).code).toBe(0)

  const planned = await rollcall(house, 'sync', '4712', '--removed', '--dry-run')
  expect([planned.code, planned.out]).toEqual([0, expect.stringContaining('customer 4712 (dry run)')])
  expect((await rollcall(house, 'sync', '4712', '--removed')).code).toBe(0)
  expect((await traces(house)).keys).toContain('4712')

  // A text that is no key of these columns, but was one of others.
  await house.sql(`INSERT INTO rollcall.ledger (key) VALUES ('old')`)
  expect((await rollcall(house, 'sync', 'old', '--dry-run')).err).toBe('')
})
