import { expect, test } from 'vitest'
import { chatWent, totalsOf } from '../../src/access/chat.ts'
import { sayChat, sayProfessionals } from '../../src/cli/say-chat.ts'
import { buildHouse, type House } from '../support/house.ts'
import { ask, lane, open } from './house.ts'

const READER = { now: new Date('2026-11-23T08:00:00Z'), timeZone: 'Europe/Madrid' }

/** Monday morning, and a customer with full access. */
async function monday(house: House, fields: object = {}): Promise<void> {
  house.sandbox.clock.set(READER.now.getTime())
  await house.db.pool.query(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  house.sandbox.users.set('c', { status: 2, ...fields })
}

test('with a token of the customer it lists whom the customer sees, and who has written', async () => {
  await using house = await buildHouse(lane)
  await monday(house, { ml_group_name: 'gold' })
  const token = await house.sandbox.issueToken('c')
  const [first] = house.sandbox.professionals.all()
  const professionalId = first?.professional_id ?? ''
  const draft = { from: 'professional', content: { type: 'text', text: 'a secret message' } } as const
  house.sandbox.conversations.add({ userId: 'c', professionalId }, [draft, draft])

  await using access = await open(house, { token })
  expect(await access.of('c')).toMatchObject({ bearer: 'this-user', verdict: { can: 'yes', why: 'full' } })
  const { chat, claims } = access
  if (chat.kind !== 'answered') throw new Error(chat.kind)
  expect(totalsOf(chat.professionals)).toMatchObject({ rooms: 1, unread: 2 })
  expect(new Set(chat.professionals.map(({ specialityId }) => specialityId))).toEqual(
    new Set([1, 2, 3, 4, 5, 6, 7, 8, 11]),
  )
  const text = [
    sayChat({ chat, claims, bearer: 'this-user' }, READER),
    ...sayProfessionals(chat, READER),
  ].join('\n')
  expect(text).toContain('2 unread in 1 room; chat exists on production only')
  expect(text).toContain(first?.name)
  expect(text).toContain('times in Europe/Madrid')
  expect(text).not.toContain('secret')
  // Another group sees others.
  house.sandbox.users.edit('c', { ml_group_name: 'basic' })
  await using fewer = await open(house, { token })
  expect(fewer.chat).not.toEqual(chat)
  // One call for each time it was opened, and none that lists messages.
  expect(
    house.sandbox.journal
      .list()
      .filter(({ path }) => path.startsWith('/chat'))
      .map(({ path }) => path),
  ).toEqual(['/chat/professionals', '/chat/professionals'])
})

test('a token of somebody else says so, and does not weigh on this customer', async () => {
  await using house = await buildHouse(lane)
  await monday(house)
  house.sandbox.users.set('d', { status: 2 })
  const token = await house.sandbox.issueToken('d')
  house.sandbox.users.edit('d', { status: 0 })
  await using access = await open(house, { token })
  expect(access.chat).toEqual({ kind: 'shut' })
  const customer = await access.of('c')
  expect(customer).toMatchObject({ bearer: 'another-user', verdict: { can: 'yes', why: 'full' } })
  const { chat, claims } = access
  expect(sayChat({ chat, claims, bearer: customer.bearer }, READER)).toContain('names another user')
  expect(chatWent(chat)).toBe('shut')
})

test('status 4 whose trial is over: the chat has the last word', async () => {
  await using house = await buildHouse(lane, { contract: { trialMs: 1000, trialEnd: 'stays' } })
  await monday(house)
  house.sandbox.users.set('c', { status: 4 })
  const token = await house.sandbox.issueToken('c')
  expect((await ask(house, 'c', { token })).verdict).toEqual({ can: 'yes', why: 'trial' })
  house.sandbox.clock.advance(2000)
  expect((await ask(house, 'c', { token })).verdict).toEqual({ can: 'no', why: 'chat-shut' })
})

test('a token that has expired, or is none of this service, leaves open whether the customer can', async () => {
  await using house = await buildHouse(lane)
  await monday(house)
  const token = await house.sandbox.issueToken('c', { expiresInMs: 60_000 })
  house.sandbox.clock.advance(3_600_000)
  await using late = await open(house, { token })
  expect(late.chat).toEqual({ kind: 'refused' })
  expect((await late.of('c')).verdict).toEqual({ can: 'unknown', why: 'chat-failed' })
  const reader = { ...READER, now: new Date(READER.now.getTime() + 3_600_000) }
  const { chat, claims } = late
  expect(sayChat({ chat, claims, bearer: 'this-user' }, reader)).toContain('it expired 59 min ago')

  await using none = await open(house, { token: 'not.a.jwt' })
  expect([none.chat, none.claims?.names]).toEqual([{ kind: 'refused' }, []])
  expect(await none.of('c')).toMatchObject({ bearer: 'unsaid', verdict: { why: 'chat-failed' } })
})

test('the demo service is never sent a token, and one on this machine is a stand-in', async () => {
  await using house = await buildHouse(lane, {
    config: { service: { environment: 'demo', allowPlainHttp: true, timeoutMs: 1000 } },
  })
  await monday(house)
  const token = await house.sandbox.issueToken('c')
  const here = await ask(house, 'c', { token })
  expect(here.verdict).toEqual({ can: 'yes', why: 'full' })
  expect(house.calls()).toHaveLength(2)
  // The same server under an address that is not known to be this machine.
  const origin = house.sandbox.url.replace('127.0.0.1', '0.0.0.0')
  await using demo = await open(house, { token, origin })
  expect(demo.chat).toEqual({ kind: 'not-asked', why: 'demo' })
  expect((await demo.of('c')).verdict).toEqual({ can: 'yes', why: 'full' })
  expect(house.calls()).toHaveLength(3)
})

test.each([
  ['404', { kind: 'failed', status: 404 }],
  ['200 html', { kind: 'failed', status: 200 }],
  ['drop-before', { kind: 'no-answer', error: expect.stringContaining('connection') }],
])('a chat that answers %s could not be asked', async (fault, chat) => {
  const { parseFault } = await import('../../src/sandbox/faults/text.ts')
  await using house = await buildHouse(lane)
  await monday(house)
  const token = await house.sandbox.issueToken('c')
  house.sandbox.faults.set([parseFault(`GET ${fault} times=1`)])
  await using access = await open(house, { token })
  expect(access.chat).toEqual(chat)
  expect((await access.of('c')).verdict).toEqual({ can: 'unknown', why: 'chat-failed' })
})
