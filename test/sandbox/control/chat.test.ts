// What is said in the rooms, and by whom, over the control endpoints.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/chat/people.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { message } from '../../../src/service/chat-schema.ts'
import { chatHeaders, KEYS, talk } from '../talk.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const PRO = 'pro-tax-1'
const PAIR = { user_id: 'u', professional_id: PRO }
const TEXT = { ...PAIR, type: 'text', text: 'hello' }
const IMAGE = {
  ...PAIR,
  type: 'image',
  image_url: 'https://sandbox.invalid/a.jpg',
  image_thumb_url: 'https://sandbox.invalid/a-small.jpg',
  image_width: '10',
  image_height: '20',
}
const FILE = {
  ...PAIR,
  type: 'file',
  file_url: 'https://sandbox.invalid/a.pdf',
  file_name: 'a.pdf',
  file_size: '3',
}

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
  it.each([TEXT, IMAGE, FILE])('puts a message of the type $type (section 2.1)', async (body) => {
    const { status, json } = await post('messages', body)
    expect(status).toBe(201)
    const { user_id, professional_id, ...content } = body
    expect(message.parse(json)).toEqual({
      ...content,
      from_user_id: professional_id,
      to_user_id: user_id,
      room_id: expect.any(Number),
      message_id: expect.any(String),
      status: 'sent',
      created_at: '2026-03-02T10:00:00',
    })
  })

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
    [{ ...IMAGE, image_width: 10 }, ['image_width']],
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

describe('POST /_sandbox/conversations', () => {
  it('fills a room that can then be paged', async () => {
    const { status, json } = await post('conversations', { ...PAIR, messages: 120 })
    expect([status, json]).toEqual([201, { room: expect.any(Number), messages: 120 }])
    const { room } = json as { room: number }
    const headers = await chatHeaders(sandbox, 'u')
    const page = await talk(sandbox, `GET /chat/message?room=${room}&limit=100`, { headers })
    expect(page.json).toHaveLength(100)
    expect(await post('conversations', { ...PAIR, messages: 1 })).toMatchObject({
      json: { room, messages: 1 },
    })
  })

  it.each([0, 5001, 1.5, '10', null])('%j messages are refused', async (messages) => {
    const { status, json } = await post('conversations', { ...PAIR, messages })
    expect([status, fieldsOf(json)]).toEqual([422, ['messages']])
  })
})

it('POST /_sandbox/rooms/:id/read marks what the professional sent', async () => {
  const { json } = await post('conversations', { ...PAIR, messages: 10 })
  const { room } = json as { room: number }
  expect(await post(`rooms/${room}/read`)).toEqual({ status: 200, json: { room, marked: 3 } })
  expect(await post(`rooms/${room}/read`)).toEqual({ status: 200, json: { room, marked: 0 } })
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
