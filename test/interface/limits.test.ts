import { expect, onTestFinished } from 'vitest'
import { readEnv } from '../../src/config/env.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { MAX_LIST_BYTES } from '../../src/service/chat-client.ts'
import { makeChat, startChatServer } from '../service/chat-server.ts'
import { KEYS, makeClient } from '../service/pair.ts'
import { section } from './section.ts'
import { LAWYER, openScene, S2S, USER } from './support.ts'
import { arriving, readAs } from './wire.ts'

const scene = await openScene()

section('8', {
  limit: async () => {
    const room = scene.fill(30)
    const chat = await scene.chatAs(USER)
    for (const limit of [1, 2, 29, 30])
      expect((await chat.listMessages({ room, limit })).items).toHaveLength(limit)
    for (const limit of ['0', '-1', '1.5', 'all']) {
      const headers = await scene.chatHeaders(USER)
      expect((await scene.ask(`/chat/message?room=${room}&limit=${limit}`, { headers })).status).toBe(400)
    }
  },
  file_size: async () => {
    const file = {
      type: 'file',
      file_url: 'https://service.example/a.pdf',
      file_name: 'a.pdf',
      file_size: '2048',
    }
    const body = { user_id: USER, professional_id: LAWYER, ...file }
    const { json } = await scene.ask('/_sandbox/messages', { method: 'POST', body })
    expect(json).toMatchObject(file)
    const { items } = await readAs([json], (chat) => chat.listMessages({ room: 1 }))
    expect(items).toMatchObject([{ kind: 'file', sizeKb: 2048 }])
  },
  'not shown: default and maximum of limit': async () => {
    const room = scene.fill(250)
    const chat = await scene.chatAs(USER)
    expect((await chat.listMessages({ room })).items.length).toBeGreaterThan(0)
    expect((await chat.listMessages({ room, limit: 5000 })).items.length).toBeLessThan(250)
  },
  'not shown: rate limits': async () => {
    const chat = await scene.chatAs(USER)
    for (const status of [429, 503]) {
      for (const form of ['seconds', 'date'] as const) {
        const retryAfter = { form, seconds: 20 }
        scene.sandbox.faults.set([{ action: { kind: 'status', status, retryAfter } }])
        const { retryAfterMs = 0 } = await scene.users.updateUser(USER, { status: 2 })
        expect(retryAfterMs).toBeGreaterThanOrEqual(19_000)
        expect(retryAfterMs).toBeLessThanOrEqual(22_000)
        await expect(chat.listProfessionals()).rejects.toMatchObject({
          status,
          retryAfterMs: expect.toSatisfy((ms: number) => ms >= 19_000 && ms <= 22_000),
        })
      }
    }
  },
  'not shown: size limits': async () => {
    const body = { status: 2, description: 'x'.repeat(100_000) } as const
    const { outcome } = await scene.call(USER, { method: 'PATCH', body })
    expect(outcome).toMatchObject({ kind: 'reply', status: 413 })
    expect(scene.sandbox.users.get(USER)?.description).toBeNull()
    const endless = [{ text: 'x'.repeat(MAX_LIST_BYTES) }]
    await expect(readAs(endless, (chat) => chat.listMessages({ room: 1 }))).rejects.toMatchObject({
      name: 'CallError',
      kind: 'too-large',
    })
  },
})

section('9', {
  'server-to-server': async () => {
    const requests = await arriving(async ({ users }) => {
      await users.createUser({ user_id: 'u', status: 2 })
      await users.retrieveUser('u')
      await users.replaceUser('u', { status: 2 })
      await users.updateUser('u', { status: 2 })
    })
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /s2s/v1/users',
      'GET /s2s/v1/users/u',
      'PUT /s2s/v1/users/u',
      'PATCH /s2s/v1/users/u',
    ])
    expect((await scene.ask(`/s2s/users/${USER}`)).status).toBe(404)
  },
  chat: async () => {
    const requests = await arriving(async ({ chat }) => {
      await chat.listMessages({ room: 1 })
      await chat.listProfessionals()
    })
    expect(requests.map(({ url }) => url)).toEqual(['/chat/message?room=1', '/chat/professionals'])
    const headers = await scene.chatHeaders(USER)
    expect((await scene.ask('/chat/v1/professionals', { headers })).status).toBe(404)
  },
  addresses: async () => {
    const demo = await startSandbox(KEYS)
    onTestFinished(() => demo.stop())
    demo.users.set(USER, { status: 4 })
    for (const [base, status] of [
      [scene.sandbox.url, 2],
      [demo.url, 4],
    ] as const) {
      for (const suffix of ['', '/', '/s2s/v1', '/s2s/v1/']) {
        const { SERVICE_URL: origin } = readEnv({ SERVICE_URL: base + suffix }, { need: ['SERVICE_URL'] })
        const users = makeClient({ origin })
        onTestFinished(() => users.close())
        expect((await users.retrieveUser(USER)).body).toMatchObject({ value: { status } })
      }
    }
    const chat = makeChat({
      origin: scene.sandbox.url,
      apiKey: KEYS.apiKey,
      accessToken: await scene.sandbox.issueToken(USER),
    })
    onTestFinished(() => chat.close())
    expect((await chat.listProfessionals()).items.length).toBeGreaterThan(0)
  },
  'not shown: policy': async () => {
    expect((await scene.ask(`/s2s/v2/users/${USER}`, { headers: S2S })).status).toBe(404)
    await using server = await startChatServer(() => ({
      body: { user_id: 'u', status: 2, email: 'a@b.es', shoe: 40 },
    }))
    const users = makeClient({ origin: server.url })
    onTestFinished(() => users.close())
    expect((await users.retrieveUser('u')).status).toBe(200)
    const [wire] = await scene.askAs(USER, `/chat/message?room=${scene.fill(1)}`)
    const newer = [
      { ...wire, type: 'voice', voice_url: 'https://service.example/1' },
      { ...wire, emoji: 'x' },
    ]
    const { items, unreadable } = await readAs(newer, (chat) => chat.listMessages({ room: 1 }))
    expect([items.map(({ kind }) => kind), unreadable]).toEqual([['other', 'text'], 0])
    const [shown] = await scene.askAs(USER, '/chat/professionals')
    const more = await readAs([{ ...shown, languages: ['es'] }], (chat) => chat.listProfessionals())
    expect(more).toEqual(await readAs([shown], (chat) => chat.listProfessionals()))
  },
})
