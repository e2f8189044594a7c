import { expect, test } from 'vitest'
import { buildHouse, SECRETS } from '../support/house.ts'
import { settleOnce } from '../support/settled-house.ts'
import { ask, insert, lane, open, printed, register, toDo } from './house.ts'

const DIGEST = { digestKey: SECRETS.ROLLCALL_DIGEST_KEY }

test('full access, a trial, no access and no registration are distinguished, one GET for each', async () => {
  await using house = await buildHouse(lane)
  for (const [id, plan] of [
    ['full', 'premium'],
    ['trial', 'trial'],
    ['none', 'free'],
    ['new', 'premium'],
  ] as const)
    await insert(house, id, plan)
  register(house, 'full', 2)
  register(house, 'trial', 4)
  register(house, 'none', 0)
  await using access = await open(house)
  const verdict = async (key: string) => Object.values((await access.of(key)).access).join(' ')
  expect(await verdict('full')).toBe('yes full')
  expect(await verdict('trial')).toBe('yes trial')
  expect(await verdict('none')).toBe('no no-access')
  expect(await verdict('new')).toBe('no not-registered')
  expect(house.calls().map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET'])
})

test('a key that neither the customer data nor rollcall nor the service knows is no such customer', async () => {
  await using house = await buildHouse(lane)
  const unknown = await ask(house, 'mistyped')
  expect([unknown.access.why, toDo(unknown)]).toEqual(['no-such-customer', []])
  expect(printed(unknown)).toContain('no such customer')
  // A customer who was there once is not mistyped.
  await insert(house, 'gone', 'premium')
  await house.sql('DELETE FROM clientes')
  expect((await ask(house, 'gone')).access.why).toBe('not-registered')
})

test('a trial that was agreed on and is over is not taken for one that was never given', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'trial')
  await settleOnce(house)
  house.sandbox.users.edit('c', { status: 0 })
  const ended = await ask(house, 'c', DIGEST)
  expect(ended).toMatchObject({ access: { why: 'trial-ended' }, result: 'same', remedies: [] })
  await house.db.pool.query(`UPDATE clientes SET nombre = 'x'`)
  expect((await ask(house, 'c', DIGEST)).fields[0]).toMatchObject({ state: 'trial-ended' })
  await insert(house, 'd', 'trial')
  register(house, 'd', 0)
  expect((await ask(house, 'd', DIGEST)).access.why).toBe('no-access')
  // An upgrade that is on its way: what it lost is the trial, and what is owed is full access.
  await house.sql(`UPDATE clientes SET plan = 'premium' WHERE id = 'c'`)
  const upgraded = await ask(house, 'c', DIGEST)
  expect(upgraded).toMatchObject({
    access: { why: 'trial-ended' },
    drift: { fields: ['status', 'first_name'], access: 'lost' },
    remedies: [{ do: 'wait', waitMs: null }],
  })
})
