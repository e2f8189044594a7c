import { expect, test } from 'vitest'
import { isMet, type Known } from '../../src/access/knowledge.ts'
import { agreedStatus } from '../../src/access/next.ts'
import { NEVER_SETTLED } from '../../src/ledger/record.ts'

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

test('a status counts as agreed on only for this user, and not when a crash hides what was sent last', () => {
  const sent = known({}, { sentStatus: 4 })
  expect(agreedStatus(sent, 'u')).toBe(4)
  expect(agreedStatus(sent, 'v')).toBeNull()
  expect(
    agreedStatus({ ...sent, owed: { ...IDLE, unknown: true, blind: true, statusDoubted: true } }, 'u'),
  ).toBeNull()
  expect(agreedStatus({ ...sent, owed: null }, 'u')).toBe(4)
})

test('somebody is known to have been there by an acknowledged write, a status or a captured change alone', () => {
  expect(isMet(known())).toBe(false)
  expect(isMet(known({ owed: { ...IDLE, dueInMs: 5 } }, { remote: 'absent' }))).toBe(false)
  expect(isMet(known({ capturedMs: 5 }))).toBe(true)
  expect(isMet(known({}, { writtenAgoMs: 5 }))).toBe(true)
  expect(isMet(known({}, { sentStatus: 0 }))).toBe(true)
  expect(isMet(known({}, { seenStatus: 0 }))).toBe(true)
})
