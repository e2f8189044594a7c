import { expect, test } from 'vitest'
import { type Chat, type ChatSays, chatSays, listing, mayAskChat } from '../../src/explain/chat.ts'
import type { Bearer } from '../../src/explain/token.ts'

const WAITING = {
  ...{ professionalId: 'p', status: 'online', name: null, photo: null, title: null, titleHtml: null },
  ...{ description: null, specialityId: null, collegiateNumber: null, schedules: [], room: null },
  ...{ nextConnectionAt: null, nextDisconnectionAt: null },
}
const NONE = listing({ items: [], unreadable: 0 })

const CHATS: readonly (readonly [Chat, ours: ChatSays, perhapsOurs: ChatSays])[] = [
  [{ kind: 'not-asked', why: 'demo' }, 'nothing', 'nothing'],
  [listing({ items: [WAITING], unreadable: 3 }), 'nothing', 'nothing'],
  [NONE, 'none-visible', 'nothing'],
  [{ ...NONE, unreadable: 3 }, 'unclear', 'nothing'],
  [{ kind: 'shut' }, 'shut', 'unclear'],
  [{ kind: 'refused' }, 'unclear', 'unclear'],
  [{ kind: 'no-answer', http: 500, error: null, waitMs: null }, 'unclear', 'unclear'],
  [{ kind: 'not-asked', why: 'no-permit', waitMs: null }, 'unclear', 'unclear'],
  [{ kind: 'not-asked', why: 'gave-up' }, 'unclear', 'unclear'],
]

test.each(CHATS)(
  'what a chat that came to %j says: of its own user %s, of a user that may be it %s',
  (chat, ours, perhapsOurs) => {
    const expected: Readonly<Record<Bearer, ChatSays>> = {
      'this-user': ours,
      unsaid: perhapsOurs,
      'named-otherwise': perhapsOurs,
      'another-user': 'nothing',
    }
    for (const bearer of ['this-user', 'unsaid', 'named-otherwise', 'another-user'] as const)
      expect([bearer, chatSays(chat, bearer)]).toEqual([bearer, expected[bearer]])
  },
)

test('an order that nothing decides is that of the list', () => {
  const items = ['a', 'b', 'c'].map((name) => ({ ...WAITING, name }))
  expect(listing({ items, unreadable: 0 }).professionals.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
})

test('a token goes to production and to a stand-in on this machine', () => {
  expect(mayAskChat('https://service.example', 'production')).toBe(true)
  expect(mayAskChat('https://demo.example', 'demo')).toBe(false)
  expect(mayAskChat('http://127.0.0.1:4010', 'demo')).toBe(true)
})
