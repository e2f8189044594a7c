import { expect, test } from 'vitest'
import type { Chat } from '../../src/access/chat.ts'
import { curesFor, type Deed } from '../../src/access/cure.ts'
import type { Knowledge, Known } from '../../src/access/knowledge.ts'
import type { Next } from '../../src/access/next.ts'
import type { Look } from '../../src/access/verdict.ts'
import { sayCure } from '../../src/cli/say-cure.ts'
import { NEVER_SETTLED } from '../../src/ledger/record.ts'

const DIFFERS: Next = { kind: 'differs', act: 'update', status: 2, fields: [] }
const IDLE = {
  unknown: false,
  blind: false,
  statusDoubted: false,
  replanInMs: null,
  sinceMs: null,
  dueInMs: null,
  underWay: false,
}

function known(over: Partial<Known> = {}, record: Partial<Known['record']> = {}): Known {
  const base = { ...NEVER_SETTLED, userId: 'u', ...record }
  return {
    kind: 'known',
    record: base,
    owed: IDLE,
    capturedMs: null,
    searched: true,
    recorded: true,
    ...over,
  }
}

/** What is advised where everything but this is well. */
function advised(found: Partial<Parameters<typeof curesFor>[0]>) {
  const well = {
    look: { kind: 'present', status: 2 },
    chat: { kind: 'not-asked', why: 'no-token' },
  } as const
  const rest = {
    next: { kind: 'right' },
    bearer: 'this-user',
    knowledge: known(),
    consistencyDelayMs: 5000,
  } as const
  return curesFor({ ...well, ...rest, ...found }).map((cure) => [cure.do, cure.waitMs])
}

const owed = (dueInMs: number) => ({ owed: { ...IDLE, sinceMs: 1000, dueInMs } })

const CURES: readonly (readonly [string, Knowledge, Deed])[] = [
  ['nothing is owed', known(), 'sync-look'],
  ['nothing is known of it', known({ owed: null, recorded: false }), 'sync-look'],
  ['it is due later', known(owed(30_000)), 'wait'],
  ['it is due for a moment', known(owed(-30_000)), 'wait'],
  ['it is due for minutes', known(owed(-90_000)), 'start-a-worker'],
  ['a change was captured just now', known({ capturedMs: 100 }), 'wait'],
  [
    'a change was captured just now, over one that is overdue',
    known({ ...owed(-90_000), capturedMs: 100 }),
    'wait',
  ],
  ['a change was captured minutes ago', known({ capturedMs: 90_000 }), 'start-a-worker'],
  ['it was written a moment ago', known({}, { writtenAgoMs: 4000 }), 'ask-again'],
  ['it was written a while ago', known({}, { writtenAgoMs: 6000 }), 'sync-look'],
  ['it is rejected', known({}, { state: 'rejected' }), 'correct'],
  ['it is rejected, and has changed since', known(owed(1000), { state: 'rejected' }), 'wait'],
  ['it is held', known({}, { state: 'held' }), 'release'],
  ['it fails', known(owed(1000), { state: 'failing' }), 'wait'],
  ['rollcall is not installed', { kind: 'not-installed' }, 'migrate'],
  ['its tables are of another version', { kind: 'not-migrated' }, 'migrate'],
  ['its tables may not be read', { kind: 'not-readable' }, 'sync-look'],
  ['its tables are locked', { kind: 'locked' }, 'sync-look'],
]

test.each(CURES)('what to do about a difference when %s', (_, knowledge, cure) => {
  expect(advised({ next: DIFFERS, knowledge })).toEqual([[cure, null]])
})

test('where nothing differs there is nothing to do, and where the row is at fault it has to be corrected', () => {
  for (const kind of ['right', 'unsaid'] as const) expect(advised({ next: { kind } })).toEqual([])
  const knowledge = known(owed(1))
  expect(advised({ next: { kind: 'left-alone', why: 'ignored' }, knowledge })).toEqual([])
  expect(advised({ next: { kind: 'blocked', why: 'mapping', keys: [] } })).toEqual([['correct', null]])
})

test('records about another target are always to be named, once', () => {
  const knowledge = { kind: 'other-target', differences: ['x'] } as const
  for (const next of [DIFFERS, { kind: 'right' }, { kind: 'unsaid' }] as const)
    expect(advised({ next, knowledge })).toEqual([['name-the-target', null]])
})

const LOOKS: readonly (readonly [Look, Deed, number | null])[] = [
  [{ kind: 'denied', answer: 401 }, 'check-keys', null],
  [{ kind: 'later', answer: 429, waitMs: 9 }, 'ask-later', 9],
  [{ kind: 'unreadable', answer: 503, why: 'status', waitMs: null }, 'ask-later', null],
  [{ kind: 'unreadable', answer: 408, why: 'status', waitMs: null }, 'ask-later', null],
  [{ kind: 'unreadable', answer: 302, why: 'status', waitMs: null }, 'check-address', null],
  [{ kind: 'unreadable', answer: 200, why: 'error', waitMs: null }, 'ask-later', null],
  [{ kind: 'unreadable', answer: 200, why: 'no-user', waitMs: null }, 'check-address', null],
  [{ kind: 'no-answer', error: 'dns' }, 'check-service', null],
  [{ kind: 'no-answer', error: 'bad-user-id' }, 'correct', null],
  [{ kind: 'no-permit', waitMs: 7 }, 'see-status', 7],
  [{ kind: 'not-asked' }, 'check-service', null],
  [{ kind: 'present', status: 3 }, 'ask-the-service', null],
]

test.each(LOOKS)('a GET that came to %j: %s', (look, deed, waitMs) => {
  expect(advised({ look })).toEqual([[deed, waitMs]])
})

const CHATS: readonly (readonly [Chat, Deed, number | null])[] = [
  [{ kind: 'shut' }, 'check-trial', null],
  [{ kind: 'refused' }, 'check-token', null],
  [{ kind: 'failed', status: 404, waitMs: null }, 'check-address', null],
  [{ kind: 'failed', status: 200, waitMs: null }, 'check-address', null],
  [{ kind: 'failed', status: 500, waitMs: null }, 'ask-later', null],
  [{ kind: 'failed', status: 429, waitMs: 3 }, 'ask-later', 3],
  [{ kind: 'no-answer', error: 'timeout' }, 'check-service', null],
  [{ kind: 'no-permit', waitMs: null }, 'see-status', null],
  [{ kind: 'given-up' }, 'check-service', null],
  [{ kind: 'answered', professionals: [], unreadable: 0 }, 'check-group', null],
  [{ kind: 'answered', professionals: [], unreadable: 1 }, 'check-address', null],
]

test.each(CHATS)('a chat that came to %j: %s', (chat, deed, waitMs) => {
  expect(advised({ chat })).toEqual([[deed, waitMs]])
})

test('who is shut out of the chat for having no access, or as somebody else, is not told to check', () => {
  expect(advised({ chat: { kind: 'shut' }, look: { kind: 'present', status: 0 } })).toEqual([])
  expect(advised({ chat: { kind: 'shut' }, bearer: 'another-user' })).toEqual([])
  const nobody = { kind: 'answered', professionals: [], unreadable: 0 } as const
  expect(advised({ chat: nobody, look: { kind: 'present', status: 0 } })).toEqual([])
  for (const bearer of ['unsaid', 'named-otherwise', 'another-user'] as const)
    expect(advised({ chat: nobody, bearer })).toEqual([])
})

test('what is to be done twice is said once, with the longer wait', () => {
  const look = { kind: 'later', answer: 429, waitMs: 3 } as const
  const chat = { kind: 'failed', status: 503, waitMs: 8 } as const
  expect(advised({ look, chat })).toEqual([['ask-later', 8]])
})

test('every advice is in words, and those that look say exactly so', () => {
  const should = { kind: 'out-of-scope' } as const
  const told = { key: "o'neil", should, knowledge: known(), next: DIFFERS, look: { kind: 'none' } } as const
  const deeds = [...CURES.map((row) => row[2]), ...LOOKS.map((row) => row[1]), ...CHATS.map((row) => row[1])]
  for (const deed of deeds) expect(sayCure({ do: deed, waitMs: null }, told)).toMatch(/\w/)
  expect(sayCure({ do: 'sync-look', waitMs: null }, told)).toBe(`\`rollcall sync 'o'\\''neil' --look\``)
  expect(sayCure({ do: 'sync-look', waitMs: null }, { ...told, should: { kind: 'removed' } })).toContain(
    '--removed',
  )
  expect(sayCure({ do: 'ask-later', waitMs: 300_000 }, told)).toContain('in 5 min')
  expect(sayCure({ do: 'see-status', waitMs: 300_000 }, told)).toContain('held for 5 min')
})
