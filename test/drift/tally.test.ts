import { expect, test } from 'vitest'
import { doubtOf, EMPTY_TALLY, plus, tallyOf } from '../../src/drift/tally.ts'
import type { CheckVerdict } from '../../src/drift/words.ts'
import { driftingOf } from '../../src/report/conclude.ts'

const VERDICTS: readonly CheckVerdict[] = [
  { kind: 'agrees' },
  { kind: 'agrees', hidden: true },
  { kind: 'agrees', nobody: 'known' },
  { kind: 'agrees', nobody: 'gone' },
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
  hidden: 1,
  vanished: 2,
  absent: 1,
  kinds: { missing: 1, differs: 2, 'trial-ended': 1 },
  access: { lost: 1, undue: 2 },
  heldAccess: { undue: 1 },
  causes: { 'edited-at-service': 2, 'never-delivered': 1 },
  fields: { status: 1, email: 2 },
  skipped: { owed: 1, held: 2 },
  noAnswer: { trouble: 2 },
}

test('each customer counts once, and by what was said of it', () => {
  expect(tallyOf(VERDICTS)).toEqual(COUNTED)
})

test('causes add up with what counts as drift: a trial that ended has none, and no field', () => {
  const { kinds, causes, fields } = tallyOf(VERDICTS)
  const sum = Object.values(causes).reduce((total, count) => total + count, 0)
  expect(sum).toBe(driftingOf({ kinds }))
  expect(fields.status).toBe(1)
})

test('counts add up, wherever they are cut', () => {
  for (let cut = 0; cut <= VERDICTS.length; cut++)
    expect(plus(tallyOf(VERDICTS.slice(0, cut)), tallyOf(VERDICTS.slice(cut)))).toEqual(COUNTED)
})

test('those who are rightly not there say nothing of the service, and those who vanished do, wanted or not', () => {
  const missing: CheckVerdict = { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' }
  const many = (count: number, verdict: CheckVerdict) => Array.from({ length: count }, () => verdict)
  const absent = many(90, { kind: 'agrees', nobody: 'known' })
  const gone = many(30, { kind: 'agrees', nobody: 'gone' })
  const there = many(10, { kind: 'agrees' })
  const of = (...verdicts: readonly (readonly CheckVerdict[])[]) => doubtOf(tallyOf(verdicts.flat()))
  expect(of(absent, many(6, missing))).toBe('nobody-there')
  expect(of(gone, many(6, missing), there)).toBe('nobody-there')
  expect(of(absent, there, many(6, missing))).toBeNull()
  expect(of(absent)).toBeNull()
  // Nor does anybody whom nobody has registered yet.
  expect(of(many(80, { ...missing, cause: 'never-delivered' }), many(6, missing))).toBe('nobody-there')
})

test('nobody is nobody', () => {
  expect(tallyOf([])).toEqual(EMPTY_TALLY)
})
