import { expect } from 'vitest'
import type { Message } from '../../src/service/chat-read.ts'
import { section } from './section.ts'
import { inMadrid, LAWYER, openScene, USER } from './support.ts'
import { readAs } from './wire.ts'

const scene = await openScene()

type Both = { readonly wire: Record<string, unknown>; readonly read: Message }

/** The messages of a room with all types in it, as they go over the wire and as the client reads them. */
async function inBothForms(): Promise<readonly Both[]> {
  const room = scene.fill(30)
  const wire = await scene.askAs(USER, `/chat/message?room=${room}&limit=100`)
  const { items } = await (await scene.chatAs(USER)).listMessages({ room, limit: 100 })
  expect([wire.length, items.length]).toEqual([30, 30])
  return items.map((read, index) => ({ wire: wire[index] ?? {}, read }))
}

const listOf = (wire: unknown) => readAs([wire], (chat) => chat.listMessages({ room: 1 }))

/** A text in every message, which the client passes on. */
function everywhere(field: string, property: keyof Message, check: (both: readonly Both[]) => void) {
  return async () => {
    const both = await inBothForms()
    for (const { wire, read } of both) {
      expect(wire[field]).toBeTypeOf('string')
      expect(read[property]).toBe(wire[field])
    }
    check(both)
  }
}

/** Members of each type besides the common ones. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['image_url', 'image_thumb_url', 'image_width', 'image_height'],
  file: ['file_url', 'file_name', 'file_size'],
}

/** A text in the messages of one type, without which they are none, and in no others. */
function required(type: string, field: string, property: string, form: 'text' | 'url' | 'digits' = 'text') {
  return async () => {
    const both = await inBothForms()
    const some = both.filter(({ wire }) => wire.type === type)
    for (const { wire } of both.filter((each) => !some.includes(each))) expect(wire).not.toHaveProperty(field)
    for (const { wire, read } of some) {
      expect(wire[field]).toEqual(form === 'digits' ? expect.stringMatching(/^\d+$/) : expect.any(String))
      if (form === 'url') expect(URL.canParse(String(wire[field]))).toBe(true)
      expect(read).toHaveProperty(property, form === 'digits' ? Number(wire[field]) : wire[field])
    }
    const { [field]: left, ...incomplete } = some[0]?.wire ?? expect.fail(`no ${type}`)
    expect(await listOf(incomplete)).toEqual({ items: [], unreadable: 1 })
    const parts = (PARTS[type] ?? []).filter((part) => part !== field).map((part) => [part, incomplete[part]])
    const body = { user_id: USER, professional_id: LAWYER, type, ...Object.fromEntries(parts) }
    const post = (sent: object) => scene.ask('/_sandbox/messages', { method: 'POST', body: sent })
    expect(await post({ ...body, [field]: left })).toMatchObject({ status: 201 })
    expect(await post(body)).toMatchObject({
      status: 422,
      json: { error: { fields: { [field]: expect.anything() } } },
    })
  }
}

section('2.1', {
  place: async () => {
    const last = (await inBothForms()).at(-1)
    const shown = await scene.askAs(USER, '/chat/professionals')
    expect(shown.find((each) => each.professional_id === LAWYER)).toMatchObject({
      room: { last_message: last?.wire },
    })
    const { items } = await (await scene.chatAs(USER)).listProfessionals()
    expect(items.find((each) => each.professionalId === LAWYER)?.room?.lastMessage).toEqual(last?.read)
  },
  from_user_id: everywhere('from_user_id', 'fromUserId', (both) => {
    expect(new Set(both.map(({ read }) => read.fromUserId))).toEqual(new Set([USER, LAWYER]))
  }),
  to_user_id: everywhere('to_user_id', 'toUserId', (both) => {
    for (const { read } of both) expect(read.toUserId).toBe(read.fromUserId === USER ? LAWYER : USER)
  }),
  room_id: async () => {
    for (const { wire, read } of await inBothForms()) {
      expect(wire.room_id).toSatisfy(Number.isInteger)
      expect(read.roomId).toBe(String(wire.room_id))
    }
  },
  message_id: everywhere('message_id', 'messageId', (both) => {
    for (const { read } of both) expect(read.messageId).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
    expect(new Set(both.map(({ read }) => read.messageId)).size).toBe(both.length)
  }),
  status: everywhere('status', 'status', (both) => {
    expect(new Set(both.map(({ read }) => read.status))).toEqual(new Set(['sent', 'received', 'read']))
  }),
  type: everywhere('type', 'kind', (both) => {
    expect(new Set(both.map(({ read }) => read.kind))).toEqual(new Set(Object.keys(PARTS)))
  }),
  text: required('text', 'text', 'text'),
  image_url: required('image', 'image_url', 'url', 'url'),
  image_thumb_url: required('image', 'image_thumb_url', 'thumbUrl', 'url'),
  image_width: required('image', 'image_width', 'width', 'digits'),
  image_height: required('image', 'image_height', 'height', 'digits'),
  file_url: required('file', 'file_url', 'url', 'url'),
  file_name: required('file', 'file_name', 'name'),
  file_size: required('file', 'file_size', 'sizeKb', 'digits'),
  created_at: async () => {
    inMadrid() // where that hour was left out of the day
    scene.sandbox.clock.set(Date.parse('2026-03-29T02:30:15.900Z'))
    const { wire, read } = (await inBothForms()).at(-1) ?? expect.fail('no message')
    expect(wire.created_at).toBe('2026-03-29T02:30:15')
    expect(read.createdAt.toISOString()).toBe('2026-03-29T02:30:15.000Z')
  },
  'rule 1': async () => {
    const head = ['created_at', 'from_user_id', 'message_id', 'room_id', 'status', 'to_user_id', 'type']
    const both = await inBothForms()
    for (const { wire } of both) {
      expect(Object.keys(wire).sort()).toEqual([...head, ...(PARTS[String(wire.type)] ?? [])].sort())
    }
    for (const { wire, read } of both.slice(0, 5)) {
      const mixed = { text: 'x', image_url: 'y', file_url: 'z', ...wire }
      expect(await listOf(mixed)).toEqual({ items: [read], unreadable: 0 })
    }
  },
  'rule 2': async () => {
    for (const { read } of await inBothForms()) expect(Object.values(read)).not.toContain(null)
    expect(await listOf({ type: 'text', text: 'from nobody' })).toEqual({ items: [], unreadable: 1 })
  },
})
