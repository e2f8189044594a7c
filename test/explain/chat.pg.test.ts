import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { exitForAccess } from '../../src/cli/explain.ts'
import { renderChat, renderProfessionals } from '../../src/cli/render-chat.ts'
import { setCeiling } from '../../src/pace/row.ts'
import { parseFault } from '../../src/sandbox/faults/faults.ts'
import { buildHouse, type House } from '../support/house.ts'
import { holdCalls } from '../support/pace-row.ts'
import { all, ask, lane, open, printed, toDo } from './house.ts'

const NOW = new Date('2026-11-23T08:00:00Z')

/** Monday morning, and a customer with full access. */
async function monday(house: House, fields: object = {}): Promise<void> {
  house.sandbox.clock.set(NOW.getTime())
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  house.sandbox.users.set('c', { status: 2, ...fields })
}

test('with a token of the customer it lists the professionals that the customer sees, and unread messages', async () => {
  await using house = await buildHouse(lane)
  await monday(house, { ml_group_name: 'gold' })
  const token = await house.sandbox.issueToken('c')
  const [first] = house.sandbox.professionals.all()
  const professionalId = first?.professional_id ?? ''
  const draft = { from: 'professional', content: { type: 'text', text: 'a secret message' } } as const
  house.sandbox.conversations.add({ userId: 'c', professionalId }, [draft, draft])

  await using access = await open(house, { token })
  const asked = await access.of('c')
  expect(asked).toMatchObject({ token: 'this-user', access: { can: 'yes', why: 'full' } })
  const { claims } = access
  const { chat } = asked
  if (chat.kind !== 'answered') throw new Error(chat.kind)
  expect(chat.totals).toMatchObject({ rooms: 1, unread: 2 })
  expect(new Set(chat.professionals.map(({ specialityId }) => specialityId))).toEqual(
    new Set([1, 2, 3, 4, 5, 6, 7, 8, 11]),
  )
  const text = [
    ...renderChat({ chat, claims, bearer: 'this-user' }, NOW),
    ...renderProfessionals(chat, NOW),
  ].join('\n')
  expect(text).toContain('2 unread in 1 room')
  expect(text).toContain(first?.name)
  expect(text).not.toContain('secret')
  house.sandbox.users.edit('c', { ml_group_name: 'basic' })
  await using fewer = await open(house, { token })
  expect((await fewer.of('c')).chat).not.toEqual(chat)
  // One call for each time it was opened, and none that lists messages.
  expect(
    house.sandbox.journal
      .list()
      .filter(({ path }) => path.startsWith('/chat'))
      .map(({ path }) => path),
  ).toEqual(['/chat/professionals', '/chat/professionals'])
})

test('a token that names another of the customers who are asked about does not weigh on this one', async () => {
  await using house = await buildHouse(lane)
  await monday(house)
  house.sandbox.users.set('d', { status: 2 })
  const token = await house.sandbox.issueToken('d')
  house.sandbox.users.edit('d', { status: 0 })
  await using access = await open(house, { token })
  const [first, second] = await all(access, ['c', 'd', 'c'])
  expect(first?.chat).toEqual({ kind: 'shut' })
  expect(first).toMatchObject({ token: 'another-user', access: { can: 'yes', why: 'full' } })
  expect(second).toMatchObject({ token: 'this-user', access: { can: 'no', why: 'no-access' } })
  expect(house.sandbox.journal.list().map(({ path }) => path)).toEqual([
    '/s2s/v1/users/c',
    '/s2s/v1/users/d',
    '/chat/professionals',
  ])
})

const sign = (claims: Record<string, unknown>) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('x'.repeat(32)))

test.each([
  ['says nothing', {}, 'unsaid', 'rollcall found no user_id'],
  ['names a user by another name', { sub: 'internal-77' }, 'named-otherwise', 'does not name'],
])('a token that %s and is shut out makes no certain "no", and no "yes"', async (_, claims, bearer, text) => {
  await using house = await buildHouse(lane)
  await monday(house)
  house.sandbox.users.set('d', { status: 2 })
  house.sandbox.users.set('e', { status: 0 })
  house.sandbox.faults.set([parseFault('/chat 403')])
  await using access = await open(house, { token: await sign(claims) })
  const asked = await all(access, ['c', 'd', 'e'])
  expect(asked.map(({ token }) => token)).toEqual([bearer, bearer, bearer])
  const verdicts = asked.map(({ access: verdict }) => verdict)
  const open403 = { can: 'unknown', why: 'chat-silent' } as const
  expect(verdicts).toEqual([open403, open403, { can: 'no', why: 'no-access' }])
  const [first] = asked
  if (!first) throw new Error('there are three')
  const { chat } = first
  expect(exitForAccess({ explanations: [first], chat })).toBe(1)
  expect(printed(first)).toMatch(/no clear answer/)
  expect(renderChat({ chat, claims: access.claims, bearer: first.token }, NOW).join(' ')).toContain(text)
})

test('the chat keeps the common pace, and its Retry-After binds no worker', async () => {
  await using house = await buildHouse(lane)
  await monday(house)
  const token = await house.sandbox.issueToken('c')
  await setCeiling(house.db.pool, 50)
  for (const status of ['429', '503', '401', '403']) {
    house.sandbox.faults.set([parseFault(`/chat ${status} retry-after=3600`)])
    expect((await ask(house, 'c', { token })).service).toEqual({ kind: 'present', status: 2 })
  }
  const { rows } = await house.sql('SELECT FROM rollcall.pace WHERE not_before > now()')
  expect(rows).toEqual([])

  const before = house.calls().length
  await holdCalls(house.db.pool, 3_600_000)
  await using held = await open(house, { token, patienceMs: 200 })
  expect(await held.of('c')).toMatchObject({
    service: { kind: 'not-asked', why: 'no-permit' },
    chat: { kind: 'not-asked', why: 'no-permit', waitMs: expect.any(Number) },
  })
  expect(house.calls()).toHaveLength(before)
})

test('a token that has expired, or is none of this service, leaves open whether the customer can', async () => {
  await using house = await buildHouse(lane)
  await monday(house)
  const token = await house.sandbox.issueToken('c', { expiresInMs: 60_000 })
  house.sandbox.clock.advance(3_600_000)
  const customer = await ask(house, 'c', { token })
  expect(customer.chat).toEqual({ kind: 'refused' })
  expect(customer.access).toEqual({ can: 'unknown', why: 'chat-silent' })
  expect(toDo(customer)).toContain('check-token')
  await using none = await open(house, { token: 'not.a.jwt' })
  const silent = await none.of('c')
  expect([silent.chat, none.claims?.names]).toEqual([{ kind: 'refused' }, []])
  expect(silent).toMatchObject({ token: 'unsaid', access: { why: 'chat-silent' } })
})

test('the demo service is never sent a token, and one on this machine is a stand-in', async () => {
  await using house = await buildHouse(lane, {
    config: { service: { environment: 'demo', allowPlainHttp: true, timeoutMs: 1000 } },
  })
  await monday(house)
  const token = await house.sandbox.issueToken('c')
  const here = await ask(house, 'c', { token })
  expect(here.access).toEqual({ can: 'yes', why: 'full' })
  expect(house.calls()).toHaveLength(2)
  // The same server under an address that is not known to be this machine.
  const origin = house.sandbox.url.replace('127.0.0.1', '0.0.0.0')
  await using demo = await open(house, { token, origin })
  expect(await demo.of('c')).toMatchObject({
    access: { can: 'yes', why: 'full' },
    chat: { kind: 'not-asked', why: 'demo' },
  })
  expect(house.calls()).toHaveLength(3)
})

test.each([
  ['404', { http: 404, error: null, waitMs: null }, 'check-address'],
  ['200 html', { http: 200, error: null, waitMs: null }, 'check-address'],
  ['503 retry-after=60', { http: 503, error: null, waitMs: 60_000 }, 'try-later'],
  ['drop-before', { http: null, error: 'connection-lost', waitMs: null }, 'check-address'],
])('a chat that answers %s could not be asked', async (fault, chat, name) => {
  await using house = await buildHouse(lane)
  await monday(house)
  const token = await house.sandbox.issueToken('c')
  house.sandbox.faults.set([parseFault(`GET /chat ${fault}`)])
  const customer = await ask(house, 'c', { token })
  expect(customer.chat).toEqual({ kind: 'no-answer', ...chat })
  expect(customer.access).toEqual({ can: 'unknown', why: 'chat-silent' })
  expect(toDo(customer)).toContain(name)
})
