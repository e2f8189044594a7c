import { expect, test } from 'vitest'
import { EMPTY_TALLY, plus, tallyOf } from '../../src/drift/tally.ts'
import type { Verdict } from '../../src/drift/words.ts'

const VERDICTS: readonly Verdict[] = [
  { kind: 'agrees' },
  { kind: 'agrees' },
  { kind: 'missing', fields: [], cause: 'edited-at-service' },
  { kind: 'differs', fields: ['status', 'email'], cause: 'edited-at-service' },
  { kind: 'differs', fields: ['email'], cause: 'never-delivered' },
  { kind: 'skipped', why: 'owed' },
  { kind: 'no-answer', why: 'trouble' },
  { kind: 'no-answer', why: 'trouble' },
]

const COUNTED = {
  checked: 5,
  agrees: 2,
  kinds: { missing: 1, differs: 2 },
  causes: { 'edited-at-service': 2, 'never-delivered': 1 },
  fields: { status: 1, email: 2 },
  skipped: { owed: 1 },
  noAnswer: { trouble: 2 },
}

test('each customer counts once, and by what was said of it', () => {
  expect(tallyOf(VERDICTS)).toEqual(COUNTED)
})

test('counts add up, wherever they are cut', () => {
  for (let cut = 0; cut <= VERDICTS.length; cut++)
    expect(plus(tallyOf(VERDICTS.slice(0, cut)), tallyOf(VERDICTS.slice(cut)))).toEqual(COUNTED)
})

test('nobody is nobody', () => {
  expect(tallyOf([])).toEqual(EMPTY_TALLY)
})
