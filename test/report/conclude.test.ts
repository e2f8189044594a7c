import { describe, expect, test } from 'vitest'
import { conclude } from '../../src/report/conclude.ts'
import type { RunOutcome } from '../../src/report/report.ts'
import { aReport } from './scene.ts'

const STOPPED: RunOutcome = { kind: 'stopped', why: 'asked', resume: null }

/** 1,000 checked, so many of them missing, against a limit. */
function concluded(missing: number, outcome: RunOutcome, maxDrift: number | null) {
  const report = aReport({ outcome, suspected: 0 })
  const counts = { ...report.counts, checked: 1000, agrees: 1000 - missing, kinds: { missing } }
  return conclude({ ...report, counts, options: { ...report.options, maxDrift } })
}

describe('a report concludes', () => {
  const COMPLETE: RunOutcome = { kind: 'complete' }
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
    ['not-credible', 1000, { kind: 'not-credible', why: 'many-missing' }, null],
  ] as const)('%s: %d missing, %j, limit %s', (conclusion, missing, outcome, limit) => {
    expect(concluded(missing, outcome, limit)).toBe(conclusion)
  })

  const { counts, ...report } = aReport({ outcome: COMPLETE, suspected: 0 })
  const agreeing = { ...counts, checked: 500, agrees: 500, kinds: {}, noAnswer: {} }

  test.each([
    ['agrees', { owed: 500 }, 0],
    ['unchecked', { owed: 501 }, 0],
    ['unchecked', { owed: 500 }, 1],
    ['unchecked', {}, 1],
    ['unchecked', { owed: 1, rejected: 500 }, 0],
    ['agrees', { discarded: 900, 'not-ours': 900 }, 0],
    ['drift', { held: 1 }, 0],
    ['drift', { owed: 501, held: 1 }, 0],
  ] as const)('%s where these were left out: %j, and %i suspected', (conclusion, skipped, suspected) => {
    expect(conclude({ ...report, counts: { ...agreeing, skipped }, suspected })).toBe(conclusion)
  })

  test('nothing where no customer could be checked, or there is no customer to check', () => {
    for (const skipped of [{ owed: 1 }, {}]) {
      const none = { ...agreeing, checked: 0, agrees: 0, skipped }
      expect(conclude({ ...report, counts: none })).toBe('unchecked')
    }
  })
})
