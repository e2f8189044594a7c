// Answers are in test/interface, by section.
import { beforeEach, describe, expect, it } from 'vitest'
import { makeDrafts } from '../../support/drafts.ts'
import { bearing, chatHeaders, sandboxOfFile, talk } from '../talk.ts'

/** A Monday. */
const NOW = Date.parse('2026-03-02T10:00:00Z')

const sandbox = sandboxOfFile({ now: () => NOW })
beforeEach(() => {
  const { users, journal, clock, conversations } = sandbox
  for (const part of [users, journal, clock, conversations]) part.clear()
  users.set('u', { status: 2 })
})

const as = async (userId: string, path: string) =>
  talk(sandbox, `GET ${path}`, { headers: await chatHeaders(sandbox, userId) })
const fill = (userId = 'u', count = 50) =>
  sandbox.conversations.add({ userId, professionalId: 'pro-tax-1' }, makeDrafts(count, NOW)).room

it('a call is in the journal with the user of the token, valid or not', async () => {
  await as('u', '/chat/message?room=1')
  const forged = (await sandbox.issueToken('u')).replace(/[^.]*$/, 'forged')
  await talk(sandbox, 'GET /chat/professionals', { headers: bearing(forged) })
  expect(sandbox.journal.list({ userId: 'u' })).toMatchObject([
    { method: 'GET', path: '/chat/message', status: 404, stored: false },
    { method: 'GET', path: '/chat/professionals', status: 401 },
  ])
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
