// The exit code of `rollcall drift`, and what a sample is said to mean.
import { describe, expect, test } from 'vitest'
import { estimateOf, exitFor, warningOf } from '../../src/cli/drift-report.ts'
import { EMPTY_TALLY } from '../../src/drift/tally.ts'
import type { DriftTally } from '../../src/drift/words.ts'
import type { Report, RunOutcome } from '../../src/report/report.ts'

const tally = (checked: number, kinds: DriftTally['kinds'] = {}): DriftTally => ({
  ...EMPTY_TALLY,
  checked,
  kinds,
})
const holding = (checked: number, held: number): DriftTally => ({ ...tally(checked), skipped: { held } })
const COMPLETE: RunOutcome = { kind: 'complete' }
const STOPPED: RunOutcome = { kind: 'stopped', why: 'asked', resume: null }
const MANY_MISSING: RunOutcome = { kind: 'not-credible', why: 'many-missing' }

function report(counts: DriftTally, outcome: RunOutcome = COMPLETE, maxDrift: number | null = null): Report {
  const target = { origin: 'https://x.example', environment: 'demo', local: false } as const
  const options = { from: 'service', sample: null, where: null, rate: null, maxDrift, values: false } as const
  return {
    ...({ version: 1, writtenBy: '0', target, startedAt: '', endedAt: '', options, outcome } as const),
    ...{ population: 1000, chosen: 1000, counts, suspected: 0, foundLater: null },
    ...{ estimate: null, coverage: null, repair: null, trend: [], findings: [] },
  }
}

describe('the exit code', () => {
  test.each<[string, Report, number]>([
    ['no customer differs', report(tally(1000)), 0],
    ['a trial has ended', report(tally(1000, { 'trial-ended': 5 })), 0],
    ['one differs', report(tally(1000, { differs: 1 })), 3],
    ['so many as are tolerated', report(tally(1000, { missing: 5 }), COMPLETE, 0.005), 0],
    ['one more than that', report(tally(1000, { missing: 6 }), COMPLETE, 0.005), 3],
    ['stopped, and no customer differs so far', report(tally(10), STOPPED), 1],
    ['stopped, and a customer does', report(tally(10, { differs: 1 }), STOPPED), 1],
    ['the answers are not credible', report(tally(30, { missing: 30 }), MANY_MISSING), 1],
    ['no customer could be checked', report(tally(0)), 1],
    ['no customer differs, and a customer is held', report(holding(999, 1)), 3],
    ['no more are held than are tolerated', report(holding(995, 5), COMPLETE, 0.005), 0],
    ['one more of them is', report(holding(994, 6), COMPLETE, 0.005), 3],
    ['no customer is chosen', { ...report(tally(0)), population: 0, chosen: 0 }, 1],
  ])('%s: %#', (_, said, code) => expect(exitFor(said)).toBe(code))
})

test('a customer that has no user of ours does not count in an estimate', () => {
  const counts: DriftTally = { ...tally(60, { differs: 3 }), skipped: { 'not-ours': 40 } }
  expect(estimateOf(counts, 1000, 100)).toMatchObject({ population: 600, checked: 60, share: 0.05 })
  const all: DriftTally = { ...tally(60), skipped: { 'not-ours': 40 } }
  expect(estimateOf(all, 100, 100)).toMatchObject({ population: 60, low: 0, high: 0 })
})

test('a held customer counts in an estimate, as drift', () => {
  const counts: DriftTally = { ...tally(50), skipped: { 'not-ours': 40, held: 10 } }
  expect(estimateOf(counts, 1000, 100)).toMatchObject({ population: 600, checked: 60, drifting: 10 })
})

test('a check that passes by too small a sample says so', () => {
  const small = estimateOf(tally(50), 10_000, 50)
  const passed = { ...report(tally(50), COMPLETE, 0.005), estimate: small }
  expect(exitFor(passed)).toBe(0)
  expect(warningOf(passed)).toMatch(/too small .*0\.5 %.+--sample/)
  const large = { ...report(tally(5000), COMPLETE, 0.005), estimate: estimateOf(tally(5000), 10_000, 5000) }
  expect(warningOf(large)).toBeNull()
})
