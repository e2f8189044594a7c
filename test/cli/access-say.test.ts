import { expect, test } from 'vitest'
import { inOrder } from '../../src/access/chat.ts'
import { NO, UNKNOWN, YES } from '../../src/access/verdict.ts'
import { sayVerdict } from '../../src/cli/say-access.ts'
import { sayChat, sayProfessionals, sayVisible } from '../../src/cli/say-chat.ts'
import { localTime, span } from '../../src/cli/say-time.ts'
import type { Professional } from '../../src/service/chat.ts'

const MADRID = { now: new Date('2026-07-01T10:00:00Z'), timeZone: 'Europe/Madrid' }

function professional(over: Partial<Professional>): Professional {
  const nothing = { photo: null, title: null, titleHtml: null, description: null, collegiateNumber: null }
  return {
    ...nothing,
    professionalId: 'p',
    status: 'offline',
    name: 'Ana',
    specialityId: 2,
    schedules: [],
    nextConnectionAt: null,
    nextDisconnectionAt: null,
    room: null,
    ...over,
  }
}

const answered = (...professionals: Professional[]) =>
  ({ kind: 'answered', professionals, unreadable: 0 }) as const

test('professionals stand in a table: who is there first, then who comes next, in the time of the reader', () => {
  const chat = answered(
    professional({ name: 'Nobody knows when', specialityId: 11, status: null }),
    professional({ name: 'Tomorrow', nextConnectionAt: new Date('2026-07-02T07:30:00Z') }),
    professional({ name: 'Soon', specialityId: 99, nextConnectionAt: new Date('2026-07-01T10:30:00Z') }),
    professional({
      name: 'Here',
      status: 'online',
      nextDisconnectionAt: new Date('2026-07-01T12:00:00Z'),
      room: { id: '7', lastMessage: null, unreadMessages: 3 },
    }),
  )
  expect(sayProfessionals({ ...chat, unreadable: 1 }, MADRID)).toEqual([
    "professionals whom the token's user sees (times in Europe/Madrid)",
    '  speciality     name               status   connected                    unread',
    '  Tax            Here               online   now, until 2026-07-01 14:00  3',
    '  speciality 99  Soon               offline  2026-07-01 12:30, in 30 min  –',
    '  Tax            Tomorrow           offline  2026-07-02 09:30, in 22 h    –',
    '  Criminal       Nobody knows when  –        not said                     –',
    '  1 more could not be read',
  ])
})

test('who sees nobody is told what decides that', () => {
  expect(sayProfessionals(answered(), MADRID).join('')).toContain('none (ml_group_name decides')
})

test('order is stable where nothing decides', () => {
  const same = ['a', 'b', 'c'].map((name) => professional({ name }))
  expect(inOrder(same).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
})

test('nothing in a name moves the cursor or turns the writing round', () => {
  expect(sayVisible('\u001b[2J\u001b[1;31mAna\u202egnp\r\nRuiz\u0000')).toBe('[2J [1;31mAna gnp Ruiz')
  expect(sayVisible(`\ud800${'x'.repeat(100)}`)).toHaveLength(40)
})

test('whatever the chat answered, the line says that chat exists on production only', () => {
  const chats = [
    { kind: 'not-asked', why: 'no-token' },
    { kind: 'not-asked', why: 'demo' },
    answered(),
    { kind: 'shut' },
    { kind: 'refused' },
    { kind: 'failed', status: 500 },
    { kind: 'no-answer', error: 'The service refused the connection' },
    { kind: 'no-permit' },
  ] as const
  for (const chat of chats) {
    const said = sayChat({ chat, claims: null, bearer: null }, MADRID)
    expect(said).toContain('chat exists on production only')
  }
})

test('every verdict has words, and begins with yes, no or unknown', () => {
  for (const why of YES) expect(sayVerdict({ can: 'yes', why })).toMatch(/^ {2}verdict {3}yes[:,] \w+/)
  for (const why of NO) expect(sayVerdict({ can: 'no', why })).toMatch(/^ {2}verdict {3}no: \w+/)
  for (const why of UNKNOWN)
    expect(sayVerdict({ can: 'unknown', why })).toMatch(/^ {2}verdict {3}unknown: \w+/)
})

test.each([
  [0, 'a moment'],
  [999, 'a moment'],
  [1000, '1 s'],
  [119_000, '119 s'],
  [120_000, '2 min'],
  [7_199_000, '120 min'],
  [7_200_000, '2 h'],
  [172_800_000, '2 days'],
])('%i ms are %s', (ms, text) => {
  expect(span(ms)).toBe(text)
})

test('times are those of the zone that is named, also over a change of the clocks', () => {
  expect(localTime(new Date('2026-12-31T23:30:00Z'), 'Europe/Madrid')).toBe('2027-01-01 00:30')
  expect(localTime(new Date('2026-07-01T22:30:00Z'), 'Europe/Madrid')).toBe('2026-07-02 00:30')
  expect(localTime(new Date('2026-07-01T22:30:00Z'), 'UTC')).toBe('2026-07-01 22:30')
})
