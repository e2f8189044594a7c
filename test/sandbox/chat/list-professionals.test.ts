// Section 4.2: the list of professionals over HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { professional } from '../../../src/service/chat-schema.ts'
import { type ChatScene, PRO, startChatScene } from './scene.ts'

let scene: ChatScene
beforeAll(async () => {
  scene = await startChatScene()
})
afterAll(() => scene.sandbox.stop())
beforeEach(() => scene.reset())

describe('GET /chat/professionals (section 4.2)', () => {
  const list = async (userId = 'u') => {
    const { status, json } = await scene.as(userId, '/chat/professionals')
    expect(status).toBe(200)
    return z.array(professional).parse(json)
  }
  const idsOf = async (userId: string) => (await list(userId)).map(({ professional_id: id }) => id)

  it('answers with professionals of section 2.2, without a room while nothing was said', async () => {
    const professionals = await list()
    expect(professionals.length).toBeGreaterThanOrEqual(9)
    expect(professionals.every(({ room }) => room === null)).toBe(true)
  })

  it('ml_group_name decides who is seen, md_group_name changes nothing (section 2.6)', async () => {
    scene.sandbox.users.set('gold', { status: 2, ml_group_name: 'gold' })
    scene.sandbox.users.set('sister', { status: 2, md_group_name: 'gold' })
    const plain = await idsOf('u')
    const gold = await idsOf('gold')
    expect(gold).toEqual(expect.arrayContaining(['pro-generalist-gold', 'pro-tax-gold']))
    expect(plain).not.toContain('pro-tax-gold')
    expect(gold.filter((id) => !plain.includes(id))).toEqual(['pro-generalist-gold', 'pro-tax-gold'])
    expect(await idsOf('sister')).toEqual(plain)
  })

  it('status and the two times follow the clock; one of them is null (section 3, fact 1)', async () => {
    const shown = async () => (await list()).find(({ professional_id: id }) => id === PRO)
    expect(await shown()).toMatchObject({
      status: 'online',
      next_connection_at: null,
      next_disconnection_at: '2026-03-02T13:00',
    })
    scene.sandbox.clock.advance(3 * 3_600_000)
    expect(await shown()).toMatchObject({
      status: 'offline',
      next_connection_at: '2026-03-03T07:00',
      next_disconnection_at: null,
    })
  })

  it('shows the user’s own room with its last message and what is unread (section 2.5)', async () => {
    scene.sandbox.users.set('v', { status: 2 })
    scene.fill('v', 30)
    const id = scene.fill('u', 9)
    const rooms = (await list()).flatMap(({ room }) => room ?? [])
    expect(rooms).toEqual([{ id, last_message: scene.messagesIn(id).at(-1), unread_messages: 3 }])
    scene.sandbox.conversations.markRead(id)
    expect((await list()).flatMap(({ room }) => room ?? [])).toMatchObject([{ unread_messages: 0 }])
  })
})
