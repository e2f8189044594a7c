// Who may call the chat and what is refused. What its answers hold is in test/interface, by section.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeDrafts } from '../../../src/sandbox/chat/conversations.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { bearing, chatHeaders, KEYS, talk } from '../talk.ts'

/** A Monday. */
const NOW = Date.parse('2026-03-02T10:00:00Z')

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ ...KEYS, now: () => NOW })
})
afterAll(() => sandbox.stop())
beforeEach(() => {
  const { users, journal, clock, conversations } = sandbox
  for (const part of [users, journal, clock, conversations]) part.clear()
  users.set('u', { status: 2 })
})

const as = async (userId: string, path: string) =>
  talk(sandbox, `GET ${path}`, { headers: await chatHeaders(sandbox, userId) })
const fill = (userId = 'u', count = 50) =>
  sandbox.conversations.add({ userId, professionalId: 'pro-tax-1' }, makeDrafts(count, NOW)).room

describe('credentials and access (sections 5 and 3)', () => {
  it.each(['/chat/professionals', '/chat/message?room='])('%s', async (to) => {
    const path = to.replace(/=$/, `=${fill().id}`)
    const good = await chatHeaders(sandbox, 'u')
    const statusOf = async (headers: Record<string, string>) =>
      (await talk(sandbox, `GET ${path}`, { headers })).status
    const { Authorization = '' } = good
    expect(await statusOf(good)).toBe(200)
    expect(await statusOf({ ...good, Authorization: Authorization.replace('Bearer', 'bearer') })).toBe(200)
    for (const headers of [
      {},
      { ...good, 'Api-Key': 'other' },
      { ...good, Authorization: '' },
      { ...good, Authorization: Authorization.slice('Bearer '.length) },
      { ...good, Authorization: Authorization.replace('Bearer', 'Basic') },
      { ...good, Authorization: `${Authorization}x` },
      { 'Api-Key': KEYS.apiKey, 'Secret-Key': KEYS.secretKey },
      bearing(await sandbox.issueToken('u', { expiresInMs: 0 })),
    ]) {
      expect(await statusOf(headers), JSON.stringify(headers)).toBe(401)
    }
    sandbox.users.edit('u', { status: 0 })
    expect(await statusOf(good)).toBe(403)
    sandbox.users.delete('u')
    expect(await statusOf(good), 'a token whose user is gone').toBe(401)
  })

  it('a token does not open the server-to-server endpoints', async () => {
    expect((await as('u', '/s2s/v1/users/u')).status).toBe(401)
  })

  it.each(['HEAD', 'POST', 'DELETE'])('%s is no endpoint', async (method) => {
    const headers = await chatHeaders(sandbox, 'u')
    expect((await talk(sandbox, `${method} /chat/message`, { headers })).status).toBe(404)
  })

  it('a call is in the journal with the user of the token, believed or not', async () => {
    await as('u', '/chat/message?room=1')
    const forged = (await sandbox.issueToken('u')).replace(/[^.]*$/, 'forged')
    await talk(sandbox, 'GET /chat/professionals', { headers: bearing(forged) })
    expect(sandbox.journal.list({ userId: 'u' })).toMatchObject([
      { method: 'GET', path: '/chat/message', status: 404, stored: false },
      { method: 'GET', path: '/chat/professionals', status: 401 },
    ])
  })
})

describe('GET /chat/message (section 4.1)', () => {
  it('without a pivot gives the latest, or with older=false the first; 20 by default, 100 at most', async () => {
    const { id, messages } = fill('u', 300)
    const page = async (query: string) => (await as('u', `/chat/message?room=${id}${query}`)).json
    expect(await page('')).toEqual(messages.slice(-20))
    expect(await page('&older=false&limit=3&sort=asc')).toEqual(messages.slice(0, 3))
    expect(await page(`&limit=${'9'.repeat(400)}`)).toEqual(messages.slice(-100))
  })

  it.each([
    ['', 'room'],
    ['room=1.5', 'room'],
    ['room=1&room=2', 'room'],
    ['room=1&limit=0', 'limit'],
    ['room=1&limit=ten', 'limit'],
    ['room=1&limit=1&limit=1', 'limit'],
    ['room=1&older=1', 'older'],
    ['room=1&pivot=a&pivot=b', 'pivot'],
    ['__proto__=1', 'room'],
  ])('"%s" is 400 and names the field', async (query, field) => {
    const { status, json } = await as('u', `/chat/message?${query}`)
    const { error } = json as { error: { fields: object } }
    expect([status, Object.keys(error.fields)]).toEqual([400, [field]])
  })

  it('a room of another user is answered like one that does not exist, as is an unknown pivot', async () => {
    sandbox.users.set('v', { status: 2 })
    const [theirs, mine] = [fill('v'), fill('u')]
    const pivot = theirs.messages[3]?.message_id
    for (const query of [
      ...[theirs.id, '999', '-1', '0', '9'.repeat(400)].map((id) => `room=${id}`),
      ...['nothing', '', pivot].map((other) => `room=${mine.id}&pivot=${other}`),
    ]) {
      expect(await as('u', `/chat/message?${query}`), query).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found' } },
      })
    }
  })
})

it('md_group_name changes nothing in the list of professionals (section 2.6)', async () => {
  sandbox.users.set('gold', { status: 2, ml_group_name: 'gold' })
  sandbox.users.set('sister', { status: 2, md_group_name: 'gold' })
  const idsOf = async (userId: string) =>
    ((await as(userId, '/chat/professionals')).json as { professional_id: string }[]).map(
      ({ professional_id: id }) => id,
    )
  expect(await idsOf('sister')).toEqual(await idsOf('u'))
  expect(await idsOf('gold')).toEqual([...(await idsOf('u')), 'pro-generalist-gold', 'pro-tax-gold'])
})
