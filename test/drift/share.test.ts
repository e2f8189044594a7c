import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { doubtOf } from '../../src/drift/doubt.ts'
import { MOST_REPAIRS, nextLookMs, postponedMs, secondLookMs } from '../../src/drift/looks.ts'
import { COUNTED, shareOfLatest, withLatest } from '../../src/drift/share.ts'
import { runs } from '../support/size.ts'

const recent = (agreed: number, drifted: number) => 'a'.repeat(agreed) + 'd'.repeat(drifted)

test.each([
  [0, 0, 0.05, false],
  [0, 3, 0.05, false],
  [0, 4, 0.05, true],
  [96, 4, 0.05, false],
  [94, 6, 0.05, true],
  [190, 10, 0.05, false],
  [189, 11, 0.05, true],
  [100, 100, 1, false],
  [197, 3, 0, false],
  [196, 4, 0, true],
])('%i that agree and %i that do not, of at most %f: over %s', (agreed, drifted, maxShare, over) => {
  expect(shareOfLatest(recent(agreed, drifted), maxShare).over).toBe(over)
})

test('the last 200 count, and others that agree bring the share down again', () => {
  const mass = withLatest(recent(100, 0), recent(0, 50))
  expect(shareOfLatest(mass, 0.05)).toEqual({ counted: 150, drifted: 50, most: 7, over: true })
  expect(shareOfLatest(withLatest(mass, recent(200, 0)), 0.05)).toEqual({
    counted: COUNTED,
    drifted: 0,
    most: 10,
    over: false,
  })
})

test('whatever comes, no more than so many are counted, and the latest are among them', () => {
  const letters = fc.array(fc.constantFrom('a', 'd'), { maxLength: 300 }).map((all) => all.join(''))
  const run = fc.property(letters, letters, (before, latest) => {
    const after = withLatest(before.slice(-COUNTED), latest)
    expect(after.length).toBe(Math.min(COUNTED, before.slice(-COUNTED).length + latest.length))
    expect(after.endsWith(latest.slice(-COUNTED))).toBe(true)
  })
  fc.assert(run, { numRuns: runs(300), seed: 5 })
})

describe('what the answers of a whole run say of the service', () => {
  const CASES = [
    [{ checked: 100, kinds: { missing: 50 }, noAnswer: {} }, null],
    [{ checked: 100, kinds: { missing: 51 }, noAnswer: {} }, 'nobody-there'],
    [{ checked: 4, kinds: { missing: 4 }, noAnswer: {} }, null],
    [{ checked: 5, kinds: { missing: 5 }, noAnswer: {} }, 'nobody-there'],
    [{ checked: 0, kinds: {}, noAnswer: { trouble: 100 } }, 'no-answers'],
    [{ checked: 0, kinds: {}, noAnswer: { trouble: 1 } }, 'no-answers'],
    [{ checked: 60, kinds: {}, noAnswer: { trouble: 40 } }, null],
    [{ checked: 40, kinds: {}, noAnswer: { trouble: 40, busy: 20 } }, 'no-answers'],
    [{ checked: 0, kinds: {}, noAnswer: { denied: 9, trouble: 1 } }, 'denied'],
    [{ checked: 10, kinds: { unreadable: 9 }, noAnswer: {} }, 'no-answers'],
    [{ checked: 0, kinds: {}, noAnswer: {} }, null],
  ] as const
  test.each(CASES)('%j: %s', (tally, doubt) => {
    expect(doubtOf(tally)).toBe(doubt)
  })
})

test('nobody is looked at again sooner than the service may lag; after each repair the wait doubles', () => {
  const lag = { consistencyDelayMs: 5000 }
  expect([secondLookMs(lag), postponedMs(lag), postponedMs({ consistencyDelayMs: 0 })]).toEqual([
    5000, 5000, 2000,
  ])
  const after = (repairs: number) => nextLookMs({ repair: 'now', repairs, pending: false }, lag)
  expect([0, 1, 2].map(after)).toEqual([5000, 10_000, 20_000])
  const base = { repair: 'none', repairs: 0, pending: false } as const
  expect(nextLookMs(base, lag)).toBeNull()
  expect(nextLookMs({ ...base, pending: true }, lag)).toBe(5000)
  expect(nextLookMs({ ...base, repair: 'waits' }, lag)).toBe(600_000)
  expect(MOST_REPAIRS).toBeGreaterThan(2)
})
