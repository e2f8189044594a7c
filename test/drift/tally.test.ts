import { expect, test } from 'vitest'
import { plus, silenceOf, tallyOf } from '../../src/drift/tally.ts'
import type { CheckVerdict } from '../../src/drift/words.ts'
import { driftingOf } from '../../src/report/conclude.ts'

const VERDICTS: readonly CheckVerdict[] = [
  { kind: 'agrees' },
  { kind: 'agrees', unverifiable: true },
  { kind: 'agrees', absent: 'known' },
  { kind: 'agrees', absent: 'gone' },
  { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' },
  { kind: 'differs', fields: ['status', 'email'], cause: 'edited-at-service', access: 'undue' },
  { kind: 'differs', fields: ['email'], cause: 'never-delivered', access: null },
  { kind: 'trial-ended', fields: ['status'], cause: null, access: null },
  { kind: 'skipped', why: 'owed' },
  { kind: 'skipped', why: 'held', access: 'undue' },
  { kind: 'skipped', why: 'held', access: null },
  { kind: 'no-answer', why: 'trouble' },
  { kind: 'no-answer', why: 'trouble' },
]

const COUNTED = {
  checked: 8,
  agrees: 4,
  unverifiable: 1,
  vanished: 2,
  kinds: { missing: 1, differs: 2, 'trial-ended': 1 },
  access: { lost: 1, undue: 2 },
  heldAccess: { undue: 1 },
  causes: { 'edited-at-service': 2, 'never-delivered': 1 },
  fields: { status: 1, email: 2 },
  skipped: { owed: 1, held: 2 },
  noAnswer: { trouble: 2 },
}

test('causes add up with what counts as drift: a trial that ended has none, and no field', () => {
  const { kinds, causes, fields } = tallyOf(VERDICTS)
  expect(Object.values(causes).reduce((total, count) => total + count, 0)).toBe(driftingOf({ kinds }))
  expect(fields.status).toBe(1)
})

test('each customer counts once, by what was said of it; counts add up, wherever they are cut', () => {
  for (let cut = 0; cut <= VERDICTS.length; cut++)
    expect(plus(tallyOf(VERDICTS.slice(0, cut)), tallyOf(VERDICTS.slice(cut)))).toEqual(COUNTED)
})

test('a service that answers next to nothing is out of order, and one that refuses the keys is distinguished', () => {
  const many = (count: number, verdict: CheckVerdict) => Array.from({ length: count }, () => verdict)
  const there = many(10, { kind: 'agrees' })
  const trouble: CheckVerdict = { kind: 'no-answer', why: 'trouble' }
  const denied: CheckVerdict = { kind: 'no-answer', why: 'denied' }
  const page: CheckVerdict = { kind: 'unreadable', fields: [], cause: null, access: null }
  const of = (verdicts: readonly CheckVerdict[], over = true) => silenceOf(tallyOf(verdicts), { over })
  expect(of([])).toBeNull()
  expect(of([...there, ...many(10, trouble)])).toBeNull()
  expect(of([...there, ...many(11, trouble)])).toBe('no-answers')
  expect(of([...there, ...many(11, page)])).toBe('no-answers')
  expect(of([...there, ...many(11, denied)])).toBe('denied')
  // A few denials are reported only at the end, and a handful of failures only if no call was answered.
  expect([of(many(9, denied), false), of(many(9, denied))]).toEqual([null, 'denied'])
  expect([of(many(4, trouble)), of([...many(3, trouble), { kind: 'agrees' }])]).toEqual(['no-answers', null])
})
