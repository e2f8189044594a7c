import { expect } from 'vitest'
import { section } from './section.ts'
import { openScene, USER } from './support.ts'
import { arriving, expectHeaders, readAs } from './wire.ts'

const scene = await openScene()

/** Times and ids of a room of forty, and the client that asks for them. */
async function openRoom() {
  const room = scene.fill(40)
  const chat = await scene.chatAs(USER)
  const { items } = await chat.listMessages({ room, limit: 100 })
  const ids = items.map(({ messageId }) => messageId)
  const list = async (query: object) =>
    (await chat.listMessages({ room, ...query })).items.map(({ messageId }) => messageId)
  return { room, chat, ids, list, middle: ids[20] ?? expect.fail('no message') }
}

section('4.1', {
  headers: async () => {
    const headers = await scene.chatHeaders(USER)
    const path = `/chat/message?room=${scene.fill(1)}`
    await expectHeaders(scene, ({ chat }) => chat.listMessages({ room: 1 }), { headers, path })
  },
  room: async () => {
    const rooms = [scene.fill(3), scene.fill(4, USER, 'pro-tax-1')]
    const chat = await scene.chatAs(USER)
    for (const [room, count] of [
      [rooms[0], 3],
      [rooms[1], 4],
    ] as const) {
      for (const asked of [Number(room), String(room)]) {
        const { items } = await chat.listMessages({ room: asked })
        expect(items.map(({ roomId }) => roomId)).toEqual(Array.from({ length: count }, () => String(room)))
      }
    }
    const headers = await scene.chatHeaders(USER)
    for (const room of ['one', '1.5', '']) {
      expect((await scene.ask(`/chat/message?room=${room}`, { headers })).status).toBe(400)
    }
  },
  pivot: async () => {
    const { ids, list, middle } = await openRoom()
    expect(await list({ pivot: middle, limit: 100, older: true })).toEqual(ids.slice(0, 20))
    expect(await list({ pivot: middle, limit: 100, older: false })).toEqual(ids.slice(21))
  },
  limit: async () => {
    const { list, middle } = await openRoom()
    for (const limit of [1, 7, 19]) {
      expect(await list({ pivot: middle, limit, older: true })).toHaveLength(limit)
      expect(await list({ pivot: middle, limit, older: false })).toHaveLength(limit)
    }
  },
  older: async () => {
    const { ids, list, middle } = await openRoom()
    expect(await list({ pivot: middle, limit: 5, older: true })).toEqual(ids.slice(15, 20))
    expect(await list({ pivot: middle, limit: 5, older: false })).toEqual(ids.slice(21, 26))
  },
  answer: async () => {
    const { room, chat } = await openRoom()
    expect(await scene.askAs(USER, `/chat/message?room=${room}`)).toBeInstanceOf(Array)
    expect(await chat.listMessages({ room })).toMatchObject({ unreadable: 0 })
    await expect(readAs({ messages: [] }, (other) => other.listMessages({ room }))).rejects.toMatchObject({
      kind: 'unreadable',
    })
  },
  sample: async () => {
    const { chat, room } = await openRoom()
    const times = (await chat.listMessages({ room, limit: 100 })).items.map(({ createdAt }) =>
      createdAt.getTime(),
    )
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  },
  'not shown: order': async () => {
    const path = `/chat/message?room=${scene.fill(8)}`
    const wire = await scene.askAs(USER, path)
    for (const answer of [wire, wire.toReversed()]) {
      const { items } = await readAs(answer, (other) => other.listMessages({ room: 1 }))
      expect(items.map(({ messageId }) => messageId)).toEqual(answer.map((message) => message.message_id))
    }
  },
  'not shown: required parameters': async () => {
    const requests = await arriving(async ({ chat }) => {
      await chat.listMessages({ room: 7 })
      await chat.listMessages({ room: '7', pivot: 'a b&c' })
      await chat.listMessages({ room: 7, pivot: 'p', limit: 5, older: false })
    })
    expect(requests.map(({ url }) => url)).toEqual([
      '/chat/message?room=7',
      '/chat/message?room=7&pivot=a+b%26c',
      '/chat/message?room=7&pivot=p&limit=5&older=false',
    ])
  },
})
