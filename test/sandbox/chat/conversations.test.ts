import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Draft, makeConversations, pageOf } from '../../../src/sandbox/chat/conversations.ts'
import { makeClock } from '../../../src/sandbox/clock.ts'
import { makeDrafts } from '../../support/drafts.ts'

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

it('a room is made by the first message and is the only one of the two', () => {
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

it('messages stand by their time, and within a second in the order in which they came', () => {
  const held = make()
  const at = (text: string) => Date.parse(text)
  held.add(PAIR, [says('3'), says('4')])
  held.add(PAIR, [says('1', { at: at('2026-03-01T00:00:00Z') })])
  held.add(PAIR, [says('5'), says('2', { at: at('2026-03-01T00:00:00.999Z') })])
  expect(textsIn(held)).toEqual(['1', '2', '3', '4', '5'])
})

it('page after page (section 4.1) leads through the whole room, from either end and whatever the limit', () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 30 }))
  fc.assert(
    fc.property(sizes, fc.boolean(), ([count, limit], older) => {
      const all = make().add(PAIR, makeDrafts(count, NOW)).messages
      const walked: (typeof all)[number][] = []
      for (let pivot: string | undefined; ; ) {
        const page = pageOf(all, { pivot, limit, older }) ?? []
        if (page.length === 0) break
        if (older) walked.unshift(...page)
        else walked.push(...page)
        pivot = (older ? page[0] : page.at(-1))?.message_id
      }
      expect(walked).toEqual(all)
    }),
  )
})
