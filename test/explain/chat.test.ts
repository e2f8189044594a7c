import { expect, test } from 'vitest'
import { type Chat, type ChatSays, chatSays, mayAskChat } from '../../src/explain/chat.ts'
import type { Bearer } from '../../src/explain/token.ts'

const SOMEBODY = {
  professionalId: 'p',
  status: 'online',
  name: null,
  photo: null,
  title: null,
  titleHtml: null,
  description: null,
  specialityId: null,
  collegiateNumber: null,
  schedules: [],
  nextConnectionAt: null,
  nextDisconnectionAt: null,
  room: null,
}

const CHATS: readonly (readonly [Chat, ours: ChatSays, perhapsOurs: ChatSays])[] = [
  [{ kind: 'not-asked', why: 'demo' }, 'silent', 'silent'],
  [{ kind: 'answered', professionals: [SOMEBODY], unreadable: 3 }, 'answered', 'silent'],
  [{ kind: 'answered', professionals: [], unreadable: 0 }, 'nobody', 'silent'],
  [{ kind: 'answered', professionals: [], unreadable: 3 }, 'unreadable', 'silent'],
  [{ kind: 'shut' }, 'shut', 'shuts-somebody'],
  [{ kind: 'refused' }, 'failed', 'failed'],
  [{ kind: 'no-answer', http: 500, error: null, waitMs: null }, 'failed', 'failed'],
  [{ kind: 'not-asked', why: 'no-permit', waitMs: null }, 'failed', 'failed'],
  [{ kind: 'not-asked', why: 'gave-up' }, 'failed', 'failed'],
]

test.each(CHATS)(
  'what a chat that came to %j says: of its own user %s, of somebody who may be it %s',
  (chat, ours, perhapsOurs) => {
    const expected: Readonly<Record<Bearer, ChatSays>> = {
      'this-user': ours,
      unsaid: perhapsOurs,
      'named-otherwise': perhapsOurs,
      'another-user': 'silent',
    }
    for (const bearer of ['this-user', 'unsaid', 'named-otherwise', 'another-user'] as const)
      expect([bearer, chatSays(chat, bearer)]).toEqual([bearer, expected[bearer]])
  },
)

test('a token goes to production and to a stand-in on this machine', () => {
  expect(mayAskChat('https://service.example', 'production')).toBe(true)
  expect(mayAskChat('https://demo.example', 'demo')).toBe(false)
  expect(mayAskChat('http://127.0.0.1:4010', 'demo')).toBe(true)
})
