// What is said in the rooms, and by whom, over the control endpoints.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/chat/professionals.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { KEYS, talk } from '../talk.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const PRO = 'pro-tax-1'
const PAIR = { user_id: 'u', professional_id: PRO }
const TEXT = { ...PAIR, type: 'text', text: 'hello' }

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ ...KEYS, now: () => NOW })
})
afterAll(() => sandbox.stop())
beforeEach(() => {
  sandbox.conversations.clear()
  sandbox.professionals.clear()
  sandbox.users.clear()
  sandbox.users.set('u', { status: 2 })
})

const post = (path: string, body?: unknown) => talk(sandbox, `POST /_sandbox/${path}`, { body })
const fieldsOf = (json: unknown) => Object.keys((json as { error: { fields: object } }).error.fields)

describe('POST /_sandbox/messages', () => {
  it("takes a time without a zone for UTC, which is the service's own form", async () => {
    const said = { ...TEXT, from: 'user', status: 'received' }
    const utc = '2026-03-01T01:30:00'
    expect(await post('messages', { ...said, created_at: utc })).toMatchObject({
      json: { from_user_id: 'u', to_user_id: PRO, status: 'received', created_at: utc },
    })
    expect(await post('messages', { ...said, created_at: `${utc}+01:00` })).toMatchObject({
      json: { created_at: '2026-03-01T00:30:00' },
    })
  })

  it.each([
    [{ ...PAIR, type: 'text' }, ['text']],
    [{ ...TEXT, type: 'video' }, ['type']],
    [{ ...TEXT, from: 'nobody' }, ['from']],
    [{ ...TEXT, created_at: '2026-02-30T01:30:00' }, ['created_at']],
    [{ ...TEXT, message_id: 'mine' }, ['message_id']],
    [[], ['body']],
  ])('%j is refused with the fields', async (body, fields) => {
    const { status, json } = await post('messages', body)
    expect(status).toBe(422)
    expect(fieldsOf(json).toSorted()).toEqual(fields.toSorted())
    expect(JSON.stringify(json)).not.toContain('hello')
    expect(sandbox.conversations.room(1)).toBeUndefined()
  })

  it('is for users and professionals that there are', async () => {
    expect((await post('messages', { ...TEXT, user_id: 'nobody' })).status).toBe(404)
    expect((await post('messages', { ...TEXT, professional_id: 'nobody' })).status).toBe(404)
  })
})

it.each([0, 5001, 1.5, '10', null])('a conversation of %j messages is refused', async (messages) => {
  const { status, json } = await post('conversations', { ...PAIR, messages })
  expect([status, fieldsOf(json)]).toEqual([422, ['messages']])
})

describe('/_sandbox/professionals', () => {
  const put = (body: unknown) => talk(sandbox, 'PUT /_sandbox/professionals', { body })
  const [one] = PEOPLE

  it('shows them, takes what it shows, and gives the built-in ones back', async () => {
    const shown = await talk(sandbox, 'GET /_sandbox/professionals')
    const { professionals } = shown.json as { professionals: { professional_id: string }[] }
    expect(professionals.length).toBe(PEOPLE.length)
    const mine = professionals.map((each) => ({ ...each, professional_id: `my-${each.professional_id}` }))
    expect(await put(mine)).toEqual({ status: 200, json: { professionals: mine } })
    expect(await put({ professionals: mine })).toEqual({ status: 200, json: { professionals: mine } })
    expect(sandbox.professionals.all()).toEqual(mine)
    expect((await talk(sandbox, 'DELETE /_sandbox/professionals')).status).toBe(204)
    expect((await talk(sandbox, 'GET /_sandbox/professionals')).json).toEqual(shown.json)
  })

  it.each<[unknown, string]>([
    [{}, 'body'],
    [[{ ...one, groups: 'gold' }], '0.groups'],
    [[{ ...one, professional_id: '' }], '0.professional_id'],
    [
      [{ ...one, schedules: [{ ...one?.schedules[0], end_first_period: 'noon' }] }],
      '0.schedules.0.end_first_period',
    ],
    [[{ ...one, name: undefined }], '0.name'],
  ])('%j is refused with where it is wrong, and changes nothing', async (body, field) => {
    const { status, json } = await put(body)
    expect([status, fieldsOf(json)]).toEqual([422, [field]])
    expect(sandbox.professionals.all()).toHaveLength(PEOPLE.length)
  })
})
