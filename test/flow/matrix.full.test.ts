// Section 2.6, all 17 fields: what goes over the wire, byte for byte, and what the service holds in the end.
import { describe, expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { RollcallError } from '../../src/model/errors.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, CONFIG, timed, workingHouse } from '../support/house.ts'
import { anyLane as lane, otherLane } from '../support/lanes.ts'
import { FIELDS, type Setting, TABLE } from '../support/matrix.ts'
import { checkMatrix, configOf, QUICK, sent } from '../support/matrix-house.ts'

/** The look after a lost answer comes sooner. */
const BRISK = { service: { timeoutMs: 600 }, ...timed({ lifetimeMs: 1800 }) } as const

/** With the one of the other queue: each policy with a mapping that sets some fields, and each way to clear twice but `omit`. */
const SETTINGS: readonly Setting[] = [
  { managed: 'all', unmanaged: 'keep', clearWith: 'omit' },
  { managed: 'even', unmanaged: 'keep', clearWith: 'empty' },
  { managed: 'even', unmanaged: 'clear', clearWith: 'null' },
  { managed: 'odd', unmanaged: 'clear', clearWith: 'omit' },
]

otherLane('every field and status, set, changed, cleared and invalid', (queue) => {
  test('when the mapping sets every field', async () => {
    await checkMatrix(queue, { managed: 'all', unmanaged: 'keep', clearWith: 'null' })
  })
})

test.each(SETTINGS)(
  'the same where it sets $managed, unmanaged: $unmanaged, clearWith: $clearWith',
  async (setting) => await checkMatrix(lane, setting),
)

test('clearing by leaving out is refused where nothing may send the complete set', () => {
  const config = { ...CONFIG, ...configOf({ managed: 'even', unmanaged: 'keep', clearWith: 'omit' }) }
  expect(() => resolveConfig(config, 'rollcall.config.ts')).toThrow(RollcallError)
})

describe.concurrent('beside the matrix', () => {
  test('user_id: set, changed, taken away and invalid', async ({ expect }) => {
    await using house = await workingHouse(lane, { sql: TABLE, config: QUICK })
    const odd = 'ñ/ 1?%'
    await house.settle(
      `INSERT INTO clientes (id, plan, correo) SELECT k, 'premium', 'a@a.es' FROM unnest($1::text[]) k`,
      [[odd, 'gone', 'renamed', 'broken', '', '..', 'ta\tb', 'x'.repeat(256)]],
    )
    const post = (id: string) => [`POST {"user_id":"${id}","status":2,"email":"a@a.es"}`]
    // An empty text, a segment that would lead elsewhere, a control character and 256 letters are no valid id.
    const created = ['gone', 'renamed', 'broken', odd].map((id) => [id, post(id)])
    expect(sent(house)).toEqual(Object.fromEntries(created))

    house.sandbox.journal.clear()
    await house.sql(`UPDATE clientes SET correo = NULL WHERE id = $1`, [odd])
    await house.sql(`DELETE FROM clientes WHERE id = 'gone'`)
    await house.sql(`UPDATE clientes SET id = 'new', nombre = 'N' WHERE id = 'renamed'`)
    await house.sql(`UPDATE clientes SET id = '.' WHERE id = 'broken'`)
    await house.settle(`UPDATE clientes SET id = 'mended' WHERE id = '..'`)
    const revoked = ['PATCH {"status":0}']
    expect(sent(house)).toEqual({
      [odd]: ['PATCH {"status":2,"email":null}'],
      gone: revoked,
      renamed: revoked,
      new: ['POST {"user_id":"new","status":2,"email":"a@a.es","first_name":"N"}'],
      broken: revoked,
      mended: post('mended'),
    })
    const [path] = house.sandbox.journal.list({ userId: odd }).map((call) => call.path)
    expect(path).toBe('/s2s/v1/users/%C3%B1%2F%201%3F%25')
  })

  test('country_code of another system survives whatever is sent, a revocation and a return too', async () => {
    const { country_code: _unmanaged, ...mapping } = CONFIG.mapping
    await using house = await buildHouse(lane, { sql: TABLE, config: { mapping } })
    const { users, journal, faults } = house.sandbox
    const ours = FIELDS.filter(({ name }) => name !== 'country_code')
    const columns = ours.map(({ column }) => column).join()
    const changes = [
      `UPDATE clientes SET correo = 'b@a.es'`,
      `UPDATE clientes SET (${columns}) = (${ours.map(({ second }) => `'${second.row}'`)})`,
      `UPDATE clientes SET (${columns}) = (${ours.map(() => 'NULL')}), plan = 'trial'`,
      `UPDATE clientes SET nombre = 'N'`,
      'DELETE FROM clientes',
      `INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`,
    ]
    const worker = await house.startWorker()
    await house.settle(
      `INSERT INTO clientes (id, plan, correo, pais) VALUES ('c', 'premium', 'a@a.es', 'ES')`,
    )
    users.edit('c', { country_code: 'FR' })
    for (const statement of changes) {
      const before = journal.last
      await house.settle(statement)
      expect([statement, journal.last > before, users.get('c')?.country_code]).toEqual([
        statement,
        true,
        'FR',
      ])
    }
    faults.set([{ match: { method: 'PATCH' }, times: 1, action: { kind: 'drop-after' } }])
    await house.settle(`UPDATE clientes SET correo = 'lost@a.es'`)
    await worker.stop()
    users.edit('c', { email: 'theirs@a.es' })
    expect((await rollcall(house, 'sync', '--lookup', 'c')).code).toBe(0)
    expect(users.get('c')).toMatchObject({ country_code: 'FR', email: 'lost@a.es' })
    expect(journal.list().filter(({ raw }) => raw.includes('country_code'))).toEqual([])
  })

  test.each(['joined', 'kept', 'formatted'] as const)(
    'a phone never doubles where a GET shows it %s',
    async (phone) => {
      await using house = await buildHouse(lane, { sql: TABLE, contract: { phone }, config: BRISK })
      const { users, journal, faults } = house.sandbox
      // The user exists before our first call, in each of the ways in which another system may have written it.
      users.set('apart', { status: 2, mobile_phone: '600111222', mobile_phone_prefix: '+34' })
      users.set('joined', { status: 2, mobile_phone: '34600111222' })
      users.set('other', { status: 2, mobile_phone: '34611222333' })
      const keys = ['new', 'lost', 'apart', 'joined', 'other']
      const lose = (method: 'POST' | 'PATCH') =>
        faults.set([{ match: { method, userId: 'lost' }, times: 1, action: { kind: 'drop-after' } }])
      const check = async (number: string, prefix: string) => {
        await house.settled()
        for (const key of keys) {
          const user = users.get(key)
          const dialled = `${user?.mobile_phone_prefix ?? ''}${user?.mobile_phone}`.replace('+', '')
          expect([key, dialled]).toEqual([key, prefix + number])
        }
        for (const { raw } of journal.list())
          expect(raw).not.toMatch(/"mobile_phone":"\+|"mobile_phone":"34600111222/)
        journal.clear()
      }
      const worker = await house.startWorker()
      lose('POST')
      await house.sql(
        `INSERT INTO clientes (id, plan, movil, prefijo) SELECT k, 'premium', '+34 600 111 222', '34' FROM unnest($1::text[]) k`,
        [keys],
      )
      await check('600111222', '34')
      lose('PATCH')
      await house.settle(`UPDATE clientes SET movil = '0034 699 888 777'`)
      // Where the number may hold the prefix, the worker sends both at once; else the change is enough.
      const both = 'PATCH {"status":2,"mobile_phone":"699888777","mobile_phone_prefix":"34"}'
      const number = 'PATCH {"status":2,"mobile_phone":"699888777"}'
      expect(sent(house)).toMatchObject({ new: [number], apart: [both], joined: [both], other: [number] })
      await check('699888777', '34')
      lose('PATCH')
      await house.sql(`UPDATE clientes SET prefijo = '351', movil = '699888777'`)
      await check('699888777', '351')
      // A number that itself begins with the digits of the prefix.
      lose('PATCH')
      await house.sql(`UPDATE clientes SET movil = '351 600 600'`)
      await check('351600600', '351')

      await worker.stop()
      expect((await rollcall(house, 'sync', '--lookup', ...keys)).code).toBe(0)
      expect(journal.list().map(({ method }) => method)).toEqual(keys.map(() => 'GET'))
      users.edit('new', { mobile_phone: '351351600600', mobile_phone_prefix: null })
      users.edit('lost', { mobile_phone_prefix: '34' })
      expect((await rollcall(house, 'sync', '--lookup', ...keys)).code).toBe(0)
      await check('351600600', '351')
    },
  )
})
