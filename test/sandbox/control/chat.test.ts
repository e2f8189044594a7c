// The messages of the rooms and their authors, over the control endpoints.
import { beforeEach, describe, expect, it } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/chat/professionals.ts'
import { sandboxOfFile, talk } from '../talk.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const PRO = 'pro-tax-1'
const PAIR = { user_id: 'u', professional_id: PRO }
const TEXT = { ...PAIR, type: 'text', text: 'hello' }

const sandbox = sandboxOfFile({ now: () => NOW })
beforeEach(() => {
  sandbox.conversations.clear()
  sandbox.professionals.clear()
  sandbox.users.clear()
  sandbox.users.set('u', { status: 2 })
})

const post = (path: string, body?: unknown) => talk(sandbox, `POST /_sandbox/${path}`, { body })

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

  it('is for users and professionals that there are', async () => {
    expect((await post('messages', { ...TEXT, user_id: 'nobody' })).status).toBe(404)
    expect((await post('messages', { ...TEXT, professional_id: 'nobody' })).status).toBe(404)
  })
})

describe('/_sandbox/professionals', () => {
  const put = (body: unknown) => talk(sandbox, 'PUT /_sandbox/professionals', { body })

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
})
