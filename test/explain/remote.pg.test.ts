import { expect, test } from 'vitest'
import { readPace } from '../../src/pace/read.ts'
import { endHold, setCeiling } from '../../src/pace/row.ts'
import { parseFault } from '../../src/sandbox/faults/faults.ts'
import { buildHouse } from '../support/house.ts'
import { all, ask, insert, lane, open, printed, register, toDo } from './house.ts'

test.each([
  ['401', { why: 'denied' }, 'refused', 'check-keys', null],
  ['403', { why: 'denied' }, 'refused', 'check-keys', null],
  ['429', { why: 'busy' }, 'call later', 'try-later', null],
  ['429 retry-after=300', { why: 'busy' }, 'call later', 'try-later', 300_000],
  ['503 html', { why: 'trouble' }, 'answered 503,', 'try-later', null],
  ['302', { why: 'refused' }, 'answered 302,', 'check-address', null],
  ['error-200', { why: 'error' }, 'answered 200 with an error', 'try-later', null],
  ['200 html', { why: 'unreadable' }, 'answered 200, but not with this user', 'check-address', null],
  ['drop-before', { why: 'unreached' }, 'not answer', 'check-address', null],
])(
  'a GET that is answered %s says nothing about the customer, and what to do about that',
  async (fault, remote, text, name, waitMs) => {
    await using house = await buildHouse(lane)
    await insert(house, 'c', 'premium')
    register(house, 'c', 2)
    house.sandbox.faults.set([parseFault(`GET ${fault}`)])
    const asked = await ask(house, 'c')
    expect(asked).toMatchObject({
      access: { can: 'unknown', why: 'no-answer' },
      ...{ service: { kind: 'no-answer', ...remote }, result: 'unknown', drift: null },
      remedies: [{ do: name, waitMs }],
    })
    expect(printed(asked)).toMatch(new RegExp(`access    unknown: .*${text}`))
  },
)

test('where a pace is kept a GET takes of it, and one customer with which the service always asks to wait holds it for long only once', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  await setCeiling(pool, 50)
  await pool.query(`INSERT INTO rollcall.owed (key, change_version, lane) VALUES ('c', 1, 1)`)
  house.sandbox.faults.set([parseFault('GET 429 retry-after=3600')])
  await pool.query(`UPDATE rollcall.pace SET next_free = now() - interval '1 day'`)
  for (const seconds of [3600, 10]) {
    await ask(house, 'c')
    expect(Math.ceil(((await readPace(pool))?.heldForMs ?? 0) / 1000)).toBe(seconds)
    await endHold(pool)
  }
  const { rowCount } = await pool.query(
    `SELECT FROM rollcall.pace WHERE next_free > now() - interval '1 hour'`,
  )
  expect(rowCount).toBe(1)
})

test('a 404 without JSON is "not registered", as a sync takes it, and the address may be wrong', async () => {
  await using house = await buildHouse(lane)
  await insert(house, 'c', 'premium')
  for (const fault of ['404 html', '410 html', '404 empty']) {
    house.sandbox.faults.set([parseFault(`GET ${fault}`)])
    const asked = await ask(house, 'c')
    expect(asked.access.why).toBe('not-registered')
    expect(printed(asked)).toContain(`(${fault.slice(0, 3)}, no JSON:`)
  }
})

test('after two calls in a row without an answer the rest are not asked, nor is the chat', async () => {
  await using house = await buildHouse(lane)
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) register(house, id, 2)
  const token = await house.sandbox.issueToken('a')
  house.sandbox.faults.set(['a', 'c', 'd', 'f'].map((id) => parseFault(`GET drop-before user=${id}`)))
  await using explain = await open(house, { token })
  const asked = await all(explain, ['a', 'b', 'c', 'd', 'e', 'f'])
  expect(asked.map(({ service }) => service.kind)).toEqual([
    'no-answer',
    'present',
    'no-answer',
    'no-answer',
    'not-asked',
    'not-asked',
  ])
  const [fifth] = asked.slice(4)
  if (!fifth) throw new Error('there are six')
  expect(fifth).toMatchObject({ access: { can: 'unknown' }, service: { why: 'gave-up' } })
  expect([toDo(fifth), printed(fifth)]).toEqual([
    ['check-address'],
    expect.stringMatching(/not asked: .*not answer/),
  ])
  expect(fifth.chat).toEqual({ kind: 'not-asked', why: 'gave-up' })
  expect(house.sandbox.journal.list().some(({ path }) => path.startsWith('/chat'))).toBe(false)
})
