import { expect, test } from 'vitest'
import { renderDelay, renderDrift, renderVerified, verificationNeeds } from '../../src/cli/attention.ts'
import type { Coverage, VerificationReport } from '../../src/drift/coverage.ts'

const DAY = 86_400_000
const NONE = { missing: 0, differs: 0, 'unexpected-access': 0, unreadable: 0, 'trial-ended': 0 }

function verification(coverage: Partial<Coverage> = {}, open: Partial<typeof NONE> = {}): VerificationReport {
  return {
    coverage: {
      ...{ periodMs: 7 * DAY, customers: 2000, within: 1999, never: 0, oldestAgeMs: 6 * DAY, overdue: 0 },
      proof: { customers: 1000, medianMs: 12_300, p95Ms: 40_000 },
      ...coverage,
    },
    open: { ...NONE, ...open },
    notCredible: null,
    access: { lost: open.missing ?? 0, undue: open['unexpected-access'] ?? 0 },
    heldAccess: { lost: 0, undue: 0 },
  }
}

test.each<[Partial<Coverage>, RegExp]>([
  [{}, /^in the last 7d: 1,999 of 2,000 .* \(99\.9 %\); .* 6 days ago$/],
  [
    { within: 0, never: 2000, oldestAgeMs: null, proof: null },
    /^.*7d: 0 of 2,000 .* \(0 %\); 2,000 were never checked$/,
  ],
  [{ customers: 0, within: 0 }, /^no customer .* now \(32 known: .*28 held.*\)$/],
  [{ periodMs: null }, /reconcile\.period/],
])('how far verification has come: %j', (over, said) => {
  const states = { idle: 1, held: 28, rejected: 3, failing: 0, discarded: 0, released: 0, owed: 0 }
  expect([renderVerified(verification(over), { customers: 32, states })].flat().join('; ')).toMatch(said)
})

test('the delay from a commit to the GET that showed it, where one is known', () => {
  expect(renderDelay(verification({}))).toMatch(/: median 12 s, 95th percentile 40 s$/)
  expect(renderDelay(verification({ proof: null }))).toBeNull()
})

test('a trial that has ended is no drift', () => {
  expect(renderDrift(verification({}, { 'trial-ended': 1 }))).toEqual([
    'checks found none',
    '1 ended trial found by checks (not counted as drift)',
  ])
})

test('a customer that is held counts with the others about access, and not where the service differs', () => {
  const access = { access: { lost: 3, undue: 149 }, heldAccess: { lost: 1, undue: 149 } }
  const given = { ...verification({}, { missing: 2 }), ...access }
  expect(renderDrift(given)).toEqual([
    expect.stringMatching(/^3 wrongly without .+ \(1 of them held [^,]+\)$/),
    expect.stringMatching(/^149 wrongly with .+ \(all 149 held [^,]+\)$/),
    'found by checks: 2 × missing',
  ])
  const unchecked = renderDrift({ ...verification({ oldestAgeMs: null }), ...access })
  expect(unchecked).toContain('other drift is not known: no customer was checked yet')
  expect(verificationNeeds(given)).toEqual([
    expect.stringMatching(
      /differs .+ 2 customers \(2 wrongly without [^,]+\), held customers not counted: see/,
    ),
  ])
})

test.each<[string, VerificationReport, readonly RegExp[]]>([
  [
    'for a service that is not credible',
    { ...verification(), notCredible: { missing: 30, asked: 40 } },
    [/^30 of 40 users picked at random .*emptied.*--credible/],
  ],
  ['not while all is well', verification(), []],
  ['not for trials that ended', verification({}, { 'trial-ended': 9 }), []],
  [
    'for drift',
    verification({}, { missing: 2, differs: 1 }),
    [/differs .+ 3 customers \(2 wrongly without [^,]+\): see/],
  ],
  ['for a single one', verification({}, { differs: 1 }), [/differs .+ 1 customer: see/]],
  ['not for a few who are passed over', verification({ overdue: 100 }), []],
  ['not for three of a few', verification({ customers: 5, overdue: 3 }), []],
  ['for many who are overdue', verification({ overdue: 101 }), [/^101 of 2,000 .*7d/]],
  ['not for them where workers check no customer', verification({ overdue: 101, periodMs: null }), []],
])('a person is needed: %s', (_, given, said) => {
  expect(verificationNeeds(given)).toEqual(said.map((each) => expect.stringMatching(each)))
})
