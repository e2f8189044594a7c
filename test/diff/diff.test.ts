import { expect, test } from 'vitest'
import type { Next } from '../../src/access/next.ts'
import type { Should } from '../../src/access/should.ts'
import type { Look } from '../../src/access/verdict.ts'
import type { FieldVerdict } from '../../src/diff/cause.ts'
import { absenceOf, exitFor, type Result, resultOf } from '../../src/diff/diff.ts'
import { NEVER_SETTLED, type RemoteState } from '../../src/ledger/record.ts'

const USER: Should = { kind: 'user', status: 2 }
const GONE: Should = { kind: 'removed' }
const BROKEN: Should = { kind: 'unmappable', issues: [] }
const UNREADABLE: Should = { kind: 'unreadable', code: '22012' }
const HERE: Look = { kind: 'present', status: 2 }
const ABSENT: Look = { kind: 'absent', answer: 404, json: true }
const LATER: Look = { kind: 'later', answer: 429, waitMs: null }
const NONE: Look = { kind: 'none' }
const RIGHT: Next = { kind: 'right' }
const UNSAID: Next = { kind: 'unsaid' }
const LEFT: Next = { kind: 'left-alone', why: 'ignored' }
const MAPPING: Next = { kind: 'blocked', why: 'mapping', keys: [] }
const SHARED: Next = { kind: 'blocked', why: 'shared-user-id', keys: ['b'] }

const RESULTS: readonly (readonly [Should, Look, Next, readonly FieldVerdict[], Result])[] = [
  [USER, HERE, RIGHT, ['same', 'spelling', 'cannot-be-seen', 'not-ours', 'left-out'], 'same'],
  [USER, HERE, RIGHT, ['trial-ended'], 'same'],
  [USER, HERE, RIGHT, ['same', 'differs'], 'differs'],
  [USER, HERE, SHARED, ['same'], 'differs'],
  [USER, HERE, UNSAID, ['differs'], 'differs'],
  [USER, HERE, UNSAID, ['same'], 'same'],
  [USER, ABSENT, RIGHT, [], 'differs'],
  [USER, LATER, UNSAID, [], 'unknown'],
  [GONE, ABSENT, RIGHT, [], 'same'],
  [GONE, HERE, RIGHT, ['same'], 'same'],
  [GONE, HERE, RIGHT, ['differs'], 'differs'],
  [GONE, HERE, UNSAID, ['differs'], 'unknown'],
  [GONE, HERE, LEFT, [], 'same'],
  [GONE, LATER, LEFT, [], 'unknown'],
  [BROKEN, HERE, MAPPING, [], 'differs'],
  [BROKEN, ABSENT, MAPPING, [], 'differs'],
  [BROKEN, NONE, MAPPING, [], 'differs'],
  [BROKEN, LATER, MAPPING, [], 'unknown'],
  [UNREADABLE, HERE, UNSAID, [], 'unknown'],
  [UNREADABLE, NONE, UNSAID, [], 'unknown'],
]

test.each(RESULTS)(
  '%j, at the service %j, next %j, fields %j: %s',
  (should, look, next, verdicts, result) => {
    const rows = verdicts.map((verdict) => ({ verdict }))
    const absent = look.kind === 'absent'
    const answered = absent || look.kind === 'present'
    expect(resultOf({ looked: { should, look, next }, answered, absent, rows })).toBe(result)
  },
)

const ABSENCES: readonly (readonly [boolean, boolean, boolean, RemoteState, string])[] = [
  [false, false, false, 'unasked', 'not-known'],
  [true, true, true, 'present', 'in-doubt'],
  [true, false, false, 'unknown', 'in-doubt'],
  [true, false, true, 'present', 'just-written'],
  [true, false, false, 'present', 'changed-there'],
  [true, false, true, 'absent', 'not-delivered-since'],
  [true, false, false, 'unasked', 'never-delivered'],
]

test.each(ABSENCES)(
  'nobody there: known %s, unknown %s, fresh %s, %s: %s',
  (known, unknown, fresh, remote, cause) => {
    expect(absenceOf({ known, unknown, fresh, record: { ...NEVER_SETTLED, remote } })).toBe(cause)
  },
)

test('what could not be found out goes before what differs', () => {
  expect(exitFor(['same', 'same'])).toBe(0)
  expect(exitFor(['same', 'differs'])).toBe(3)
  expect(exitFor(['differs', 'unknown', 'same'])).toBe(1)
})
