import { expect, test } from 'vitest'
import type { Knowledge, Known } from '../../src/access/knowledge.ts'
import { agreedStatus, type Cure, cureFor, type Next } from '../../src/access/next.ts'
import { NEVER_SETTLED } from '../../src/ledger/record.ts'

const DELAY_MS = 5000
const DIFFERS: Next = { kind: 'differs', act: 'update', status: 2, fields: [] }
const IDLE = { unknown: false, blind: false, sinceMs: null, dueInMs: null, underWay: false }

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

const owed = (dueInMs: number) => ({ owed: { ...IDLE, sinceMs: 1000, dueInMs } })

const CURES: readonly (readonly [string, Knowledge, Cure])[] = [
  ['nothing is owed', known(), 'sync'],
  ['nothing is known of it', known({ owed: null, recorded: false }), 'sync'],
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
  ['it was written a while ago', known({}, { writtenAgoMs: 6000 }), 'sync'],
  ['it is rejected', known({}, { state: 'rejected' }), 'correct'],
  ['it is rejected, and has changed since', known(owed(1000), { state: 'rejected' }), 'wait'],
  ['it is held', known({}, { state: 'held' }), 'release'],
  ['it fails', known(owed(1000), { state: 'failing' }), 'wait'],
  ['rollcall is not installed', { kind: 'not-installed' }, 'migrate'],
  ['its tables are of another version', { kind: 'not-migrated' }, 'migrate'],
  ['its tables may not be read', { kind: 'not-readable' }, 'sync'],
  ['its records are about another service', { kind: 'other-target', differences: ['x'] }, 'name-the-target'],
]

test.each(CURES)('what to do about a difference when %s', (_, knowledge, cure) => {
  expect(cureFor(DIFFERS, knowledge, DELAY_MS)).toBe(cure)
})

test('where nothing differs there is nothing to do, and where the row is at fault it has to be corrected', () => {
  for (const kind of ['right', 'unsaid'] as const) expect(cureFor({ kind }, known(), DELAY_MS)).toBeNull()
  expect(cureFor({ kind: 'left-alone', why: 'ignored' }, known(owed(1)), DELAY_MS)).toBeNull()
  expect(cureFor({ kind: 'blocked', why: 'mapping', keys: [] }, known(), DELAY_MS)).toBe('correct')
})

test('a status counts as agreed on only for this user, and not when a crash hides what was sent last', () => {
  const sent = known({}, { sentStatus: 4 })
  expect(agreedStatus(sent, 'u')).toBe(4)
  expect(agreedStatus(sent, 'v')).toBeNull()
  expect(agreedStatus({ ...sent, owed: { ...IDLE, unknown: true, blind: true } }, 'u')).toBeNull()
  expect(agreedStatus({ ...sent, owed: null }, 'u')).toBe(4)
})
