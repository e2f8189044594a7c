import { expect, onTestFinished } from 'vitest'
import { mayAskChat } from '../../src/explain/chat.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { makeChat, startChatServer } from '../service/chat-server.ts'
import { KEYS, makeClient } from '../service/pair.ts'
import { section } from './section.ts'
import { LAWYER, openScene, S2S, USER } from './support.ts'

const scene = await openScene()

async function renderAs(from: 'user' | 'professional', text: string) {
  const body = { user_id: USER, professional_id: LAWYER, from, type: 'text', text }
  return (await scene.ask('/_sandbox/messages', { method: 'POST', body })).json as Record<string, unknown>
}

section('1', {
  conversation: async () => {
    const { room_id: room } = await renderAs('user', 'May I?')
    await renderAs('professional', 'You may.')
    const { items } = await (await scene.chatAs(USER)).listMessages({ room: Number(room) })
    expect(items).toMatchObject([
      { fromUserId: USER, toUserId: LAWYER, text: 'May I?' },
      { fromUserId: LAWYER, toUserId: USER, text: 'You may.' },
    ])
  },
  registration: async () => {
    const user = { user_id: 'new', status: 2, first_name: 'Ana' } as const
    expect((await scene.call('new', { method: 'POST', body: user })).meaning).toBe('done')
    expect((await scene.call('new', { method: 'GET' })).observed).toMatchObject({
      fields: { first_name: 'Ana' },
    })
    const changed = { status: 2, first_name: 'Eva' } as const
    expect((await scene.call('new', { method: 'PATCH', body: changed })).meaning).toBe('done')
    expect((await scene.call('new', { method: 'GET' })).observed).toMatchObject({
      fields: { first_name: 'Eva' },
    })
  },
  'sign-in': async () => {
    expect((await scene.ask('/chat/professionals', { headers: await scene.chatHeaders(USER) })).status).toBe(
      200,
    )
    const headers = await scene.chatHeaders(USER)
    scene.sandbox.users.delete(USER)
    expect((await scene.ask('/chat/professionals', { headers })).status).toBe(401)
    const nobody = { method: 'POST', body: { user_id: 'nobody' } }
    expect((await scene.ask('/_sandbox/tokens', nobody)).status).toBe(404)
  },
  professionals: async () => {
    const room = scene.fill(2)
    const { items } = await (await scene.chatAs(USER)).listProfessionals()
    expect(items.find(({ professionalId }) => professionalId === LAWYER)).toMatchObject({
      schedules: expect.arrayContaining([expect.objectContaining({ day: 'monday' })]),
      room: { id: String(room) },
    })
  },
  messages: async () => {
    const room = scene.fill(30)
    const chat = await scene.chatAs(USER)
    const { items: all } = await chat.listMessages({ room, limit: 50 })
    expect(all).toHaveLength(30)
    const pivot = all[10]?.messageId ?? ''
    const { items: after } = await chat.listMessages({ room, pivot, older: false, limit: 50 })
    expect(after.map(({ messageId }) => messageId)).toEqual(all.slice(11).map(({ messageId }) => messageId))
  },
  Chat: async () => {
    expect((await scene.ask('/chat/professionals', { headers: await scene.chatHeaders(USER) })).status).toBe(
      200,
    )
    expect((await scene.ask('/chat/professionals', { headers: S2S })).status).toBe(401)
  },
  'Server-to-server': async () => {
    expect((await scene.ask(`/s2s/v1/users/${USER}`)).status).toBe(200)
    const headers = await scene.chatHeaders(USER)
    expect((await scene.ask(`/s2s/v1/users/${USER}`, { headers })).status).toBe(401)
  },
})

section('4', {
  bodies: async () => {
    const { type, json } = await scene.ask(`/s2s/v1/users/${USER}`)
    expect([type, json]).toEqual([expect.stringMatching(/^application\/json/), expect.any(Object)])
    for (const path of ['/chat/professionals', `/chat/message?room=${scene.fill(1)}`]) {
      const answer = await scene.ask(path, { headers: await scene.chatHeaders(USER) })
      expect([answer.type, answer.json]).toEqual([
        expect.stringMatching(/^application\/json/),
        expect.any(Array),
      ])
    }
    const sent = await scene.ask('/s2s/v1/users', { method: 'POST', body: 'user_id=a&status=2' })
    expect(sent.status).toBe(400)
    await scene.users.updateUser(USER, { status: 0 })
    expect(JSON.parse(scene.sandbox.journal.list().at(-1)?.raw ?? '')).toEqual({ status: 0 })
  },
  addresses: async () => {
    const demo = await startSandbox(KEYS)
    onTestFinished(() => demo.stop())
    const users = makeClient({ origin: demo.url })
    onTestFinished(() => users.close())
    expect((await users.createUser({ user_id: 'of-demo', status: 2 })).status).toBe(201)
    expect((await scene.call('of-demo', { method: 'GET' })).meaning).toBe('absent')
    expect(mayAskChat('https://service.example', 'production')).toBe(true)
    expect(mayAskChat('https://demo.service.example', 'demo')).toBe(false)
    await using withoutChat = await startChatServer(() => ({ status: 404 }))
    const elsewhere = makeChat({ origin: withoutChat.url })
    onTestFinished(() => elsewhere.close())
    await expect(elsewhere.listProfessionals()).rejects.toMatchObject({ kind: 'refused', status: 404 })
  },
})
