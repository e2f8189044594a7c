// Section 5 and section 3: who may call the chat, and how such calls are seen.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bearing, chatHeaders, KEYS, talk } from '../talk.ts'
import { type ChatScene, startChatScene } from './scene.ts'

let scene: ChatScene
beforeAll(async () => {
  scene = await startChatScene()
})
afterAll(() => scene.sandbox.stop())
beforeEach(() => scene.reset())

describe('credentials (section 5)', () => {
  const PATHS = ['/chat/professionals', '/chat/message?room=']

  it.each(PATHS)('%s takes Api-Key and Bearer token, the scheme in any case', async (to) => {
    const room = scene.fill()
    const path = to.replace(/=$/, `=${room}`)
    const headers = await chatHeaders(scene.sandbox, 'u')
    expect((await talk(scene.sandbox, `GET ${path}`, { headers })).status).toBe(200)
    const lower = { ...headers, Authorization: headers.Authorization?.replace('Bearer', 'bearer') ?? '' }
    expect((await talk(scene.sandbox, `GET ${path}`, { headers: lower })).status).toBe(200)
  })

  it.each(PATHS)('%s refuses everything else with 401 in the form of all errors', async (path) => {
    const good = await chatHeaders(scene.sandbox, 'u')
    const wrong: readonly Record<string, string>[] = [
      {},
      { ...good, 'Api-Key': 'other' },
      { ...good, 'Api-Key': '' },
      { ...good, Authorization: '' },
      { ...good, Authorization: good.Authorization?.slice('Bearer '.length) ?? '' },
      { ...good, Authorization: good.Authorization?.replace('Bearer', 'Basic') ?? '' },
      { ...good, Authorization: `${good.Authorization}x` },
      bearing('a.b.c'),
      { 'Api-Key': KEYS.apiKey, 'Secret-Key': KEYS.secretKey },
      bearing(await scene.sandbox.issueToken('u', { expiresInMs: 0 })),
    ]
    for (const headers of wrong) {
      expect(await talk(scene.sandbox, `GET ${path}`, { headers })).toMatchObject({
        status: 401,
        json: { error: { code: 'unauthorized', message: expect.any(String), fields: {} } },
      })
    }
  })
})

describe('who has access (section 3, fact 2)', () => {
  it('a user with status 0 has none', async () => {
    scene.sandbox.users.edit('u', { status: 0 })
    expect(await scene.as('u', '/chat/professionals')).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    })
    expect((await scene.as('u', '/chat/message?room=1')).status).toBe(403)
  })

  it.each(['flips', 'stays'] as const)('a trial gives it for its time, when its end %s', async (trialEnd) => {
    scene.sandbox.contract.set({ trialMs: 60_000, trialEnd })
    scene.sandbox.users.set('t', { status: 4 })
    expect((await scene.as('t', '/chat/professionals')).status).toBe(200)
    scene.sandbox.clock.advance(59_999)
    expect((await scene.as('t', '/chat/professionals')).status).toBe(200)
    scene.sandbox.clock.advance(1)
    expect((await scene.as('t', '/chat/professionals')).status).toBe(403)
  })

  it('a token whose user is gone is nobody’s', async () => {
    const headers = await chatHeaders(scene.sandbox, 'u')
    scene.sandbox.users.delete('u')
    expect((await talk(scene.sandbox, 'GET /chat/professionals', { headers })).status).toBe(401)
  })
})

describe('the rest of the chat', () => {
  it.each(['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s is no endpoint', async (method) => {
    const headers = await chatHeaders(scene.sandbox, 'u')
    for (const path of ['/chat/message', '/chat/professionals']) {
      expect((await talk(scene.sandbox, `${method} ${path}`, { headers })).status).toBe(404)
    }
  })

  it('stands in the journal with the token’s user, believed or not', async () => {
    await scene.as('u', '/chat/message?room=1')
    const forged = (await scene.sandbox.issueToken('u')).replace(/[^.]*$/, 'forged')
    await talk(scene.sandbox, 'GET /chat/professionals', { headers: bearing(forged) })
    expect(scene.sandbox.journal.list({ userId: 'u' })).toMatchObject([
      { method: 'GET', path: '/chat/message', status: 404, stored: false },
      { method: 'GET', path: '/chat/professionals', status: 401 },
    ])
  })
})
