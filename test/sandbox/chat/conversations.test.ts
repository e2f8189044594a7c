// Sections 2.1 and 2.5: rooms and their messages.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Draft,
  makeConversations,
  makeDrafts,
  pageOf,
  shownRoom,
} from '../../../src/sandbox/chat/conversations.ts'
import { makeClock } from '../../../src/sandbox/clock.ts'
import { message as messageWire, room as roomWire } from '../../../src/service/chat-schema.ts'

const NOW = Date.parse('2026-03-02T10:00:00.700Z')
const PAIR = { userId: 'u', professionalId: 'p' }
const make = () => makeConversations(makeClock(() => NOW))
const says = (text: string, part: Partial<Draft> = {}): Draft => ({
  from: 'professional',
  content: { type: 'text', text },
  ...part,
})
type Made = ReturnType<typeof make>
const textsIn = (held: Made) =>
  held.between(PAIR)?.messages.map((message) => (message.type === 'text' ? message.text : message.type))

describe('a room', () => {
  it('is made by the first message and is the only one of the two', () => {
    const held = make()
    expect(held.between(PAIR)).toBeUndefined()
    const first = held.add(PAIR, [says('hello', { from: 'user' })])
    expect(first).toEqual({
      room: held.room(1),
      messages: [
        {
          from_user_id: 'u',
          to_user_id: 'p',
          room_id: 1,
          message_id: expect.any(String),
          status: 'sent',
          created_at: '2026-03-02T10:00:00',
          type: 'text',
          text: 'hello',
        },
      ],
    })
    held.add(PAIR, [says('good day')])
    expect(held.between(PAIR)?.id).toBe(1)
    held.add({ userId: 'p', professionalId: 'u' }, [says('the other way round')])
    held.add({ userId: 'a', professionalId: 'bc' }, [says('one')])
    held.add({ userId: 'ab', professionalId: 'c' }, [says('another')])
    expect([1, 2, 3, 4].map((id) => held.room(id)?.messages.length)).toEqual([2, 1, 1, 1])
  })

  it('shows the last message and how many the user has not read (section 2.5)', () => {
    const held = make()
    held.add(PAIR, [
      says('read', { status: 'read' }),
      says('received', { status: 'received' }),
      says('sent'),
      says('my own', { from: 'user' }),
    ])
    const room = held.between(PAIR)
    const shown = room && shownRoom(room)
    expect(shown).toMatchObject({ id: 1, last_message: { text: 'my own' }, unread_messages: 2 })
    expect(roomWire.parse(shown)).toEqual(shown)
  })

  it('marks what the professional sent as read, and nothing else', () => {
    const held = make()
    held.add(PAIR, [says('a'), says('b', { status: 'received' }), says('c', { from: 'user' })])
    expect(held.markRead(1)).toBe(2)
    expect(held.markRead(1)).toBe(0)
    expect(held.markRead(2)).toBeUndefined()
    expect(held.room(1)?.messages.map(({ status }) => status)).toEqual(['read', 'read', 'sent'])
  })

  it('never gets the number of one that was cleared', () => {
    const held = make()
    held.add(PAIR, [says('a')])
    held.clear()
    expect([held.room(1), held.between(PAIR)]).toEqual([undefined, undefined])
    held.add(PAIR, [says('b')])
    expect(held.between(PAIR)?.id).toBe(2)
  })
})

describe('messages', () => {
  it('stand by their time, and within a second in the order in which they came', () => {
    const held = make()
    const at = (text: string) => Date.parse(text)
    held.add(PAIR, [says('3'), says('4')])
    held.add(PAIR, [says('1', { at: at('2026-03-01T00:00:00Z') })])
    held.add(PAIR, [says('5'), says('2', { at: at('2026-03-01T00:00:00.999Z') })])
    expect(textsIn(held)).toEqual(['1', '2', '3', '4', '5'])
  })
})

it('a room that is filled has all types, both senders, several of one second, and the last ones unread', () => {
  const held = make()
  const { room, messages } = held.add(PAIR, makeDrafts(100, NOW))
  for (const message of messages) expect(messageWire.parse(message)).toEqual(message)
  expect(new Set(messages.map(({ type }) => type))).toEqual(new Set(['text', 'image', 'file']))
  expect(new Set(messages.map(({ from_user_id: from }) => from))).toEqual(new Set(['u', 'p']))
  expect(new Set(messages.map(({ created_at: at }) => at)).size).toBeLessThan(50)
  expect(messages.at(-1)).toMatchObject({ from_user_id: 'p', created_at: '2026-03-02T10:00:00' })
  expect(shownRoom(room)?.unread_messages).toBe(3)
})

describe('a page (section 4.1)', () => {
  const held = make()
  held.add(PAIR, makeDrafts(7, NOW))
  const messages = held.between(PAIR)?.messages ?? []
  const numbers = (page: readonly unknown[] | null) =>
    page?.map((message) => messages.indexOf(message as (typeof messages)[number]))
  const plain = { order: 'oldest-first', pivot: 'excluded' } as const

  it.each([
    [undefined, true, 3, [4, 5, 6]],
    [undefined, false, 3, [0, 1, 2]],
    [undefined, true, 100, [0, 1, 2, 3, 4, 5, 6]],
    [4, true, 3, [1, 2, 3]],
    [4, false, 1, [5]],
    [4, false, 9, [5, 6]],
    [1, true, 3, [0]],
    [0, true, 3, []],
    [6, false, 3, []],
  ])('pivot %s, older %s, limit %d: %j', (spot, older, limit, expected) => {
    const pivot = spot === undefined ? undefined : messages[spot]?.message_id
    expect(numbers(pageOf(messages, { pivot, older, limit }, plain))).toEqual(expected)
  })

  it('is none for a pivot that is not in the room', () => {
    expect(pageOf(messages, { pivot: randomUUID(), older: true, limit: 3 }, plain)).toBeNull()
    expect(pageOf([], { pivot: '', older: true, limit: 3 }, plain)).toBeNull()
  })

  it('after page leads through the whole room, from either end and whatever the limit', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 30 }))
    fc.assert(
      fc.property(sizes, fc.boolean(), ([count, limit], older) => {
        const all = make().add(PAIR, makeDrafts(count, NOW)).messages
        const walked: (typeof all)[number][] = []
        for (let pivot: string | undefined; ; ) {
          const page = pageOf(all, { pivot, limit, older }, plain) ?? []
          if (page.length === 0) break
          if (older) walked.unshift(...page)
          else walked.push(...page)
          pivot = (older ? page[0] : page.at(-1))?.message_id
        }
        expect(walked).toEqual(all)
      }),
    )
  })
})
