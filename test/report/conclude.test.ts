import { describe, expect, test } from 'vitest'
import { conclude, driftingOf } from '../../src/report/conclude.ts'
import type { Outcome } from '../../src/report/report.ts'
import { aReport } from './scene.ts'

const STOPPED: Outcome = { kind: 'stopped', why: 'asked', resume: null }

/** 1,000 checked, so many of them missing, against a limit. */
function concluded(missing: number, outcome: Outcome, maxDrift: number | null = null, checked = 1000) {
  const report = aReport({ outcome })
  const counts = { ...report.counts, checked, agrees: checked - missing, kinds: { missing } }
  return conclude({ ...report, counts, options: { ...report.options, maxDrift } })
}

describe('a report concludes', () => {
  const COMPLETE: Outcome = { kind: 'complete' }
  test.each([
    ['agrees', 0, COMPLETE, null],
    ['drift', 1, COMPLETE, null],
    ['tolerated', 5, COMPLETE, 0.005],
    ['drift', 6, COMPLETE, 0.005],
    ['agrees', 0, COMPLETE, 0.005],
    ['incomplete', 0, STOPPED, null],
    ['drift', 1, STOPPED, null],
    ['incomplete', 5, STOPPED, 0.005],
    ['not-credible', 0, { kind: 'not-credible', why: 'no-answers' }, null],
    ['not-credible', 1000, { kind: 'not-credible', why: 'nobody-there' }, null],
  ] as const)('%s: %d missing, %j, limit %s', (conclusion, missing, outcome, limit) => {
    expect(concluded(missing, outcome, limit)).toBe(conclusion)
  })

  test('nothing when nobody could be checked', () => {
    expect(concluded(0, COMPLETE, null, 0)).toBe('unchecked')
  })

  test.each([
    ['agrees', 500],
    ['unchecked', 501],
  ] as const)('%s where %i could not be checked now', (conclusion, owed) => {
    const report = aReport({ outcome: COMPLETE })
    const counts = {
      ...report.counts,
      checked: 500,
      agrees: 500,
      kinds: {},
      skipped: { owed, held: 9 },
      noAnswer: {},
    }
    expect(conclude({ ...report, counts, options: { ...report.options, maxDrift: null } })).toBe(conclusion)
  })

  test('that an empty table agrees', () => {
    const report = aReport({ chosen: 0, population: 0 })
    const counts = { ...report.counts, checked: 0, agrees: 0, kinds: {} }
    expect(conclude({ ...report, counts })).toBe('agrees')
  })
})

test('an ended trial is no drift', () => {
  expect(driftingOf({ kinds: { 'trial-ended': 5 } })).toBe(0)
  expect(
    driftingOf({
      kinds: { missing: 1, differs: 20, 'unexpected-access': 300, unreadable: 4000, 'trial-ended': 5 },
    }),
  ).toBe(4321)
})
