import { expect, test } from 'vitest'
import { asJson, details, shown } from '../../src/cli/render.ts'
import { renderChat, renderProfessionals } from '../../src/cli/render-chat.ts'
import { listing } from '../../src/explain/chat.ts'
import type { Professional } from '../../src/service/chat-read.ts'

const NOW = new Date('2026-07-01T10:00:00Z')

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

const answered = (...items: Professional[]) => listing({ items, unreadable: 0 })

test('professionals stand in a table: who is there first, then who comes next', () => {
  const chat = answered(
    professional({ name: 'Nobody knows when', specialityId: 11, status: null }),
    professional({ name: 'Tomorrow', nextConnectionAt: new Date('2026-07-02T07:30:00Z') }),
    professional({ name: 'Soon', specialityId: 99, nextConnectionAt: new Date('2026-07-01T10:30:00Z') }),
    professional({ name: 'Later', nextConnectionAt: new Date('2026-07-22T07:30:00Z') }),
    professional({
      ...{ name: 'Here', status: 'online', nextDisconnectionAt: new Date('2026-07-01T12:00:00Z') },
      room: { id: '7', lastMessage: null, unreadMessages: 3 },
    }),
  )
  expect(renderProfessionals({ ...chat, unreadable: 1 }, NOW)).toEqual([
    expect.stringMatching(/^professionals /),
    '  speciality  name               online (UTC)           unread',
    '  Tax         Here               now, until 12:00       3',
    '  number 99   Soon               from 10:30, in 30 min  –',
    '  Tax         Tomorrow           from 07:30, in 22 h    –',
    '  Tax         Later              from 2026-07-22 07:30  –',
    '  Criminal    Nobody knows when  not known              –',
    expect.stringMatching(/^ {2}1 more/),
  ])
})

const CONTROLS = [
  '0000 001b 000a 007f 009b', // C0, DEL, C1
  '061c 200e 200f 2028 202a 202e 2066 2069', // lines and directions
].flatMap((codes) => codes.split(' '))

test.each(CONTROLS)('U+%s is shown in place of being obeyed', (code) => {
  const unit = String.fromCharCode(Number.parseInt(code, 16))
  expect(shown(`a${unit}b`)).toBe(`a\\u${code}b`)
  expect(details({ note: `a${unit}b` })).toEqual([`  note      a\\u${code}b`])
  const harmless = 'é–…👩‍⚖️'
  const lines = asJson([`a${unit}b`, harmless]).split('\n')
  expect(lines).toHaveLength(4)
  for (const line of lines) expect(line).not.toContain(unit)
  expect(lines[2]).toContain(harmless)
  expect(JSON.parse(lines.join(''))).toEqual([`a${unit}b`, harmless])
})

const CHATS = [
  [{ kind: 'not-asked', why: 'no-token' }, /^not asked: that needs an access token of the user/],
  [{ kind: 'not-asked', why: 'demo' }, /^not asked: .*demo/],
  [answered(), /0 professionals, 0 online, 0 unread/],
  [{ kind: 'shut' }, /refused the user of the token \(403\)/],
  [{ kind: 'refused' }, /refused the token \(401\): the token has expired,/],
  [{ kind: 'no-answer', http: 500, error: null, waitMs: null }, /answered 500/],
  [{ kind: 'no-answer', http: null, error: 'refused', waitMs: null }, /refused the connection/],
  [{ kind: 'not-asked', why: 'no-permit', waitMs: null }, /not asked: .*rate limit/],
  [{ kind: 'not-asked', why: 'gave-up' }, /not asked: .*did not answer/],
] as const

const WHOSE = [
  [null, undefined],
  ['this-user', undefined],
  ['another-user', 'belongs to another customer'],
  ['named-otherwise', 'does not name'],
  ['unsaid', 'no user_id in the token'],
] as const

test.each(CHATS)('the chat line of %j', (chat, text) => {
  for (const [bearer, whose] of chat.kind === 'not-asked' ? WHOSE.slice(0, 1) : WHOSE) {
    const said = renderChat({ chat, claims: null, bearer }, NOW)
    for (const each of said) expect(each.length).toBeLessThanOrEqual(80)
    const unfolded = said.map((each) => each.slice(12)).join(' ')
    expect(unfolded).toMatch(text)
    expect(WHOSE.map(([, each]) => each).find((each) => each && unfolded.includes(each))).toBe(whose)
  }
})

test('a line is folded between words at eighty columns, and never within a command', () => {
  const text = `${'word '.repeat(12)}\`rollcall sync 4711 --lookup\`, ${'x'.repeat(90)} end`
  const said = details({ 'to do': text })
  expect(said).toEqual([
    `  to do     ${'word '.repeat(12).trim()}`,
    `            \`rollcall sync 4711 --lookup\`,`,
    `            ${'x'.repeat(90)}`,
    '            end',
  ])
})
