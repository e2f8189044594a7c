// Section 4.1: the messages of a room over HTTP, and the client that reads them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeDrafts } from '../../../src/sandbox/chat/conversations.ts'
import { startPair } from '../../service/pair.ts'
import { type ChatScene, NOW, PRO, startChatScene } from './scene.ts'

let scene: ChatScene
beforeAll(async () => {
  scene = await startChatScene()
})
afterAll(() => scene.sandbox.stop())
beforeEach(() => scene.reset())

describe('GET /chat/message (section 4.1)', () => {
  it('without a pivot: the latest, or with older=false the first; oldest first', async () => {
    const id = scene.fill()
    const all = scene.messagesIn(id)
    expect(await scene.page(`room=${id}`)).toEqual(all.slice(-20))
    expect(await scene.page(`room=${id}&older=true&limit=3`)).toEqual(all.slice(-3))
    expect(await scene.page(`room=${id}&older=false&limit=3`)).toEqual(all.slice(0, 3))
  })

  it('with a pivot: limit messages older or newer than it', async () => {
    const id = scene.fill()
    const all = scene.messagesIn(id)
    const pivot = all[25]?.message_id
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=4`)).toEqual(all.slice(21, 25))
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=4&older=true`)).toEqual(all.slice(21, 25))
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=4&older=false`)).toEqual(all.slice(26, 30))
  })

  it('has messages of all three types, each with its own fields alone (section 2.1, rule 1)', async () => {
    const id = scene.fill()
    const found = await scene.page(`room=${id}`)
    expect(new Set(found.map(({ type }) => type))).toEqual(new Set(['text', 'image', 'file']))
  })

  it('gives a hundred at most, 20 when no limit is given', async () => {
    const id = scene.fill('u', 300)
    expect(await scene.page(`room=${id}&limit=300`)).toHaveLength(100)
    expect(await scene.page(`room=${id}&limit=${'9'.repeat(400)}`)).toHaveLength(100)
    expect(await scene.page(`room=${id}`)).toHaveLength(20)
  })

  it('shows a page as the contract has it', async () => {
    const id = scene.fill()
    const all = scene.messagesIn(id)
    const pivot = all[25]?.message_id
    scene.sandbox.contract.set({ order: 'newest-first', pivot: 'included' })
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=2`)).toEqual([all[25], all[24], all[23]])
    scene.sandbox.contract.set({ order: 'shuffled' })
    const shuffled = await scene.page(`room=${id}&limit=50`)
    expect(shuffled).not.toEqual(all)
    expect(new Set(shuffled.map((each) => each.message_id))).toEqual(
      new Set(all.map((each) => each.message_id)),
    )
  })

  it.each([
    ['', 'room'],
    ['limit=3', 'room'],
    ['room=', 'room'],
    ['room=x', 'room'],
    ['room=1.5', 'room'],
    ['room=1e0', 'room'],
    ['room=1&room=2', 'room'],
    ['room[]=1', 'room'],
    ['room=1&limit=0', 'limit'],
    ['room=1&limit=-1', 'limit'],
    ['room=1&limit=ten', 'limit'],
    ['room=1&limit=', 'limit'],
    ['room=1&limit=1&limit=1', 'limit'],
    ['room=1&older=1', 'older'],
    ['room=1&older=TRUE', 'older'],
    ['room=1&older=', 'older'],
    ['room=1&older=true&older=true', 'older'],
    ['room=1&pivot=a&pivot=b', 'pivot'],
    ['__proto__=1', 'room'],
  ])('"%s" is 400 and names the field', async (query, field) => {
    scene.fill()
    const { status, json } = await scene.as('u', `/chat/message?${query}`)
    expect(status).toBe(400)
    expect(Object.keys((json as { error: { fields: object } }).error.fields)).toEqual([field])
  })

  it('a room of somebody else is not there, nor one that there is not, nor an unknown pivot', async () => {
    scene.sandbox.users.set('v', { status: 2 })
    const theirs = scene.fill('v')
    const mine = scene.fill('u')
    const pivot = scene.messagesIn(theirs)[3]?.message_id
    for (const query of [
      `room=${theirs}`,
      'room=999',
      'room=-1',
      'room=0',
      `room=${'9'.repeat(400)}`,
      `room=${mine}&pivot=nothing`,
      `room=${mine}&pivot=`,
      `room=${mine}&pivot=${pivot}`,
    ]) {
      expect(await scene.as('u', `/chat/message?${query}`), query).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found' } },
      })
    }
  })

  it('names that mean nothing are let pass', async () => {
    const id = scene.fill()
    expect(await scene.page(`room=${id}&limit=1&sort=asc`)).toHaveLength(1)
  })
})

describe('the client reads what the sandbox says', () => {
  it.each([
    {},
    { order: 'newest-first', pivot: 'included' },
    { order: 'shuffled', names: 'sample', roomId: 'text' },
    { order: 'shuffled', pivot: 'included' },
  ] as const)(
    'with the contract %j: every message of a room, from either end, and the professionals',
    async (contract) => {
      await using pair = await startPair({ sandbox: { contract, now: () => NOW } })
      pair.sandbox.users.set('u', { status: 2 })
      const added = pair.sandbox.conversations.add({ userId: 'u', professionalId: PRO }, makeDrafts(117, NOW))
      const all = added.kind === 'added' ? added.messages.map((each) => each.message_id) : []
      const chat = await pair.chatOf('u')
      for (const direction of ['older', 'newer'] as const) {
        const seen: string[] = []
        for await (const each of chat.pageMessages({
          room: 1,
          direction,
          limit: 10,
          ...(direction === 'newer' ? { pivot: all[0] ?? '' } : {}),
        })) {
          seen.push(each.messageId)
        }
        expect(new Set(seen)).toEqual(new Set(direction === 'older' ? all : all.slice(1)))
        expect(seen).toHaveLength(direction === 'older' ? 117 : 116)
      }
      const { items, unreadable } = await chat.listProfessionals()
      expect(unreadable).toBe(0)
      expect(items.find(({ professionalId }) => professionalId === PRO)).toMatchObject({
        specialityId: 2,
        photo: `https://sandbox.invalid/photos/${PRO}.jpg`,
        room: { id: '1', unreadMessages: 3, lastMessage: { messageId: all.at(-1) } },
        nextConnectionAt: null,
        nextDisconnectionAt: new Date('2026-03-02T13:00:00Z'),
      })
    },
  )
})
