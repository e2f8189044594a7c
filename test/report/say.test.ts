import { describe, expect, test } from 'vitest'
import { DOUBTS, STOP_REASONS } from '../../src/drift/words.ts'
import { percent } from '../../src/report/figures.ts'
import type { Report } from '../../src/report/report.ts'
import { sayEstimate, sayHeadline } from '../../src/report/say.ts'
import { sayMethod, sayScope, sayUnseen } from '../../src/report/scope.ts'
import { KIND } from '../../src/report/words.ts'
import { aFinding, aReport } from './scene.ts'

test.each([
  [0, '0 %'],
  [0.00001, '< 0.01 %'],
  [0.00021, '0.02 %'],
  [0.005, '0.5 %'],
  [0.0384, '3.8 %'],
  [0.9949, '99.49 %'],
  [0.999999, '> 99.99 %'],
  [1, '100 %'],
])('a share of %d is said as %s', (share, said) => {
  expect(percent(share)).toBe(said)
})

describe('the headline', () => {
  const { counts, options } = aReport()
  const agreeing = { ...counts, agrees: 1950, kinds: {}, access: {} }
  const held = { access: { undue: 1 }, heldAccess: { undue: 1 } }

  test.each([
    [
      'good',
      /^Everybody .* 1,950 customers\.$/,
      { counts: { ...agreeing, skipped: { 'not-ours': 50 }, noAnswer: {} }, suspected: 0 },
    ],
    ['good', /^Everybody .* 1,950 of 1,975 customers\.$/, { counts: agreeing, suspected: 0 }],
    ['unsure', /^Whether everybody .* 1,950 .* of 3 more/, { counts: agreeing }],
    [
      'bad',
      /^1 of 1,951 .*checked or held \(0\.05 %\) does not agree .*holds that one\.$/,
      { counts: { ...agreeing, skipped: { held: 1 } } },
    ],
    [
      'bad',
      /^1 .* without .*, 1 with .*\. 12 of 1,958 .*or held \(0\.61 %\) .*; 8 of them .*: above .* 0\.1 %\.$/,
      { counts: { ...counts, skipped: { held: 8 } }, options: { ...options, maxDrift: 0.001 } },
    ],
    [
      'good',
      /^8 of 1,958 .*or held \(0\.41 %\) .*holds them all: within .* 0\.5 %\.$/,
      {
        counts: { ...agreeing, skipped: { held: 8 } },
        suspected: 0,
        options: { ...options, maxDrift: 0.005 },
      },
    ],
    ['bad', /^1 .* without .*, 1 with .*\. 4 of 1,950 .*checked \(0\.21 %\) [^:]*$/, {}],
    ['good', /\. 4 of 1,950 .*: within .* 0\.5 %\.$/, { options: { ...options, maxDrift: 0.005 } }],
    ['bad', /\. 4 of 1,950 .*: above .* 0\.1 %\.$/, { options: { ...options, maxDrift: 0.001 } }],
    [
      'unsure',
      /^Stopped .*: 0 of 1,950 .*so far\.$/,
      { counts: agreeing, outcome: { kind: 'stopped', why: 'pace', resume: null } },
    ],
    ['unsure', /^Nothing .*nobody/, { counts: { ...agreeing, checked: 0, agrees: 0 } }],
    [
      'unsure',
      /^Stopped .*: nobody/,
      { counts: { ...agreeing, checked: 0 }, outcome: { kind: 'stopped', why: 'pace', resume: null } },
    ],
    [
      'unsure',
      /^Stopped .*: 1 customer with .* \(held [^)]*\)\. Nobody/,
      {
        ...{ counts: { ...agreeing, checked: 0, skipped: { held: 1 }, ...held }, suspected: 0 },
        ...{ outcome: { kind: 'stopped', why: 'asked', resume: null }, options: { ...options, maxDrift: 1 } },
      },
    ],
    [
      'unsure',
      /^Too little .* 10 .* 18 .*worker/,
      { counts: { ...agreeing, checked: 10, skipped: { owed: 18 }, noAnswer: {} }, suspected: 0 },
    ],
    [
      'unsure',
      /^Too little .* 10 .* 18 could not be\.$/,
      { counts: { ...agreeing, checked: 10, skipped: { rejected: 18 }, noAnswer: {} }, suspected: 0 },
    ],
    [
      'unsure',
      /^There is no customer [^:]*$/,
      { counts: { ...agreeing, checked: 0, agrees: 0 }, population: 0, chosen: 0 },
    ],
    [
      'unsure',
      /^There is no customer .*condition/,
      { counts: { ...agreeing, checked: 0 }, chosen: 0, options: { ...options, where: 'a=1' } },
    ],
  ] as [string, RegExp, Partial<Report>][])('%s: %s', (tone, text, given) => {
    expect(sayHeadline(aReport(given))).toMatchObject({ tone, text: expect.stringMatching(text) })
  })

  test('says who is held and where to look, and why nothing is known of the others', () => {
    const skipped = { ...counts.skipped, held: 3, discarded: 1, 'not-ours': 100 }
    const { more } = sayHeadline(aReport({ counts: { ...agreeing, skipped } }))
    expect(more[0]).toMatch(/^3 customers are held.+rollcall held/)
    expect(more[1]).toMatch(/^26 .*: 12 owed .*, 4 written .*, 2 rejected, 1 .*accepted, 7 without/)
  })

  test('of rounds also of how many nobody was looked at yet', () => {
    const report = aReport({
      ...{ counts: { ...agreeing, skipped: {}, noAnswer: {} }, suspected: 0, chosen: 2000 },
      options: { ...options, from: 'ledger' },
    })
    const { text, more } = sayHeadline(report)
    expect(text).toContain('1,950 of 2,000 customers')
    expect(more).toEqual([expect.stringMatching(/^50 .*: not looked at/)])
  })

  test('begins with access, each way in words, and says nothing of it where it is right', () => {
    const headline = (access: Report['counts']['access']) =>
      sayHeadline(aReport({ counts: { ...counts, access } })).text
    expect(headline({ lost: 1200 })).toMatch(/^1,200 customers without [^,]*\. 4 of/)
    expect(headline({ undue: 2 })).toMatch(/^2 customers with [^,]*\. 4 of/)
    expect(headline({})).toMatch(/^4 of 1,950/)
  })

  test('says how many of those with wrong access are held, since that is for a person', () => {
    const headline = (access: Report['counts']['access'], heldAccess: Report['counts']['access']) =>
      sayHeadline(aReport({ counts: { ...counts, access, heldAccess } })).text
    expect(headline({ undue: 149 }, { undue: 149 })).toMatch(
      /^149 customers with .*\(all of them held [^)]*\)\. 4 of/,
    )
    expect(headline({ lost: 3, undue: 1 }, { lost: 2, undue: 1 })).toMatch(
      /^3 customers without .+ \(2 of them held [^)]*\), 1 with .+ \(held [^)]*\)\./,
    )
  })

  test('says what is resolved by now, and how', () => {
    const over = { resolvedAt: '2026-11-22T02:30:00.000Z', resolvedHow: 'repaired' } as const
    const findings = [aFinding(), aFinding({ id: '2', ...over }), aFinding({ id: '3', ...over })]
    const { text, more } = sayHeadline(aReport({ findings }))
    expect(text).toMatch(/^3 of 1,950/)
    expect(more[0]).toMatch(/ 2 are resolved .*\(repaired [^;]*: 2\)/)
    const { more: said } = sayHeadline(aReport({ foundLater: 2 }))
    expect(said).toContainEqual(expect.stringMatching(/^Workers .* 2 more .*not counted/))
    expect(sayHeadline(aReport({ foundLater: 0 })).more.join()).not.toMatch(/resolved|Workers/)
  })

  test('does not claim to know who ended a trial', () => {
    const { more } = sayHeadline(aReport())
    expect(more).toContainEqual(expect.stringMatching(/^1 trial .*no drift/))
    expect(KIND['trial-ended'].means).toMatch(/the service ends .* or somebody/)
  })

  test.each(DOUBTS)('says what happened, and of nobody that they are missing, when it is %s', (why) => {
    const [kinds, access] = [{ missing: 1950, 'trial-ended': 3 }, { lost: 1950 }]
    const outcome = { kind: 'not-credible', why } as const
    const { tone, text, more } = sayHeadline(aReport({ outcome, counts: { ...counts, kinds, access } }))
    expect(tone).toBe('bad')
    expect(text).not.toMatch(/\d/)
    expect(more).toHaveLength(2)
    expect(more[0]).toMatch(/1,957 answers, 7 .*not clear, .*1,950 .*no such user/)
  })

  test.each(STOP_REASONS)('says how to go on when it was stopped: %s', (why) => {
    const outcome = { kind: 'stopped', why, resume: 'rollcall drift --resume 7' } as const
    const { more } = sayHeadline(aReport({ outcome }))
    expect(more).toContainEqual(expect.stringContaining('rollcall drift --resume 7'))
    expect(more[0]?.includes('rollcall pace')).toBe(why === 'pace')
  })

  test('says before all else that it was stopped, also where access is wrong', () => {
    const stopped = { outcome: { kind: 'stopped', why: 'pace', resume: null }, chosen: 848 } as const
    expect(sayHeadline(aReport(stopped)).text).toMatch(/^Stopped .*: 1 customer without .* do not agree/)
    const scope = (given: Partial<Report>) => sayScope(aReport({ ...stopped, ...given }))
    expect(scope({})[0]).toEqual(['Stopped', expect.stringContaining('848 of 2,000')])
    const { options } = aReport()
    expect(scope({ options: { ...options, sample: 1000 } })[0]?.[1]).toContain('848 of 1,000')
    expect(scope({}).flat().join()).not.toContain('all of them')
  })

  test('says how many repairs are owed, and who waits for a person', () => {
    const said = (held: number) => sayHeadline(aReport({ repair: { owed: 1, held } })).more.join(' ')
    expect(said(0)).toMatch(/1 repair [^.]*\.$/)
    expect(said(3)).toMatch(/1 repair .* 3 more .*rollcall held/)
  })
})

test('an estimate comes with its interval, in per cent and in customers', () => {
  const of = { population: 20_000, checked: 1000, drifting: 4, share: 0.004, low: 0.0012, high: 0.01005 }
  const all = { population: 20_000, chosen: 1000 }
  expect(sayEstimate(of, all)).toMatch(/ all 20,000 .* 0\.4 % .* 95 % .* 0\.12 % to 1 %, .* 24 to 201 /)
  expect(sayEstimate({ ...of, checked: 0 }, all)).toContain('says nothing')
  // Some have no user to look at: of how many that is true, the sample tells as well.
  const some = { ...of, population: 18_000 }
  expect(sayEstimate(some, all)).toMatch(/ of whom .*about 18,000 .*about 22 to 181 /)
  expect(sayEstimate(some, { ...all, chosen: 20_000 }), 'all were drawn').not.toContain('about')
})

test('what was checked, and what cannot be seen, is said', () => {
  const { options } = aReport()
  const coverage = { periodMs: 604_800_000, share: 0.97, oldest: '2026-11-14T01:02:03.000Z' }
  const scope = new Map(
    sayScope(
      aReport({ coverage, options: { ...options, from: 'ledger', where: 'a = 1', rate: 5, sample: 100 } }),
    ),
  )
  expect(scope.get('Customers')).toBe('2,000, where a = 1')
  expect(scope.get('Source')).toContain('without a call')
  const known = { ...options, from: 'ledger' } as const
  expect(new Map(sayScope(aReport({ options: known }))).get('Customers')).toMatch(/^2,000, .*record/)
  expect(new Map(sayScope(aReport())).get('Customers')).toBe('2,000, all of them')
  expect(sayMethod({ options: known }).at(-1)).toMatch(/workers and runs/)
  // Each kind of answer stands on the side on which it is counted.
  const [never, unreadable] = sayMethod({ options }).filter((line) => line.includes('as drift'))
  for (const told of ['No connection', '408', '429', '5xx', '401, 403', 'a 2xx that reports an error'])
    expect(never).toContain(told)
  expect(unreadable).toMatch(/2xx .*no user, or another/)
  expect(scope.get('Coverage')).toMatch(/^97 % .* 7 days; .* 2026-11-14 01:02 UTC$/)
  const rounds = sayScope(aReport({ coverage: { ...coverage, periodMs: 1_200_000 } }))
  expect(new Map(rounds).get('Coverage')).toMatch(/^97 % .* 20 minutes;/)
  expect(new Map(rounds).get('Looked at')).toBe('2026-11-22 02:00 to 02:41 UTC')
  expect(scope.get('Rate')).toBe('at most 5 calls a second')
  expect(sayUnseen({ options }).join()).toMatch(
    /country_code.*only the service.*out of scope.*never synced.*--show-values/,
  )
})
