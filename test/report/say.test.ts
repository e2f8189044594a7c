import { describe, expect, test } from 'vitest'
import { DOUBTS, STOPPED } from '../../src/drift/words.ts'
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
  const one = '1 customer without the access that they should have, 1 with access that they should not have. '

  test.each([
    [
      'good',
      'Everybody who was checked agrees with the service: 1,950 customers.',
      { counts: { ...agreeing, skipped: { 'not-ours': 50 }, noAnswer: {} }, suspected: 0 },
    ],
    [
      'good',
      'Everybody who was checked agrees with the service: 1,950 of 1,978 customers.',
      { counts: agreeing },
    ],
    [
      'bad',
      '1 of 1,951 customers checked or held (0.05 %) does not agree with the service; the brake holds that one.',
      { counts: { ...agreeing, skipped: { held: 1 } } },
    ],
    [
      'bad',
      `${one}12 of 1,958 customers checked or held (0.61 %) do not agree with the service; 8 of them are held by the brake: above the limit of 0.1 %.`,
      { counts: { ...counts, skipped: { held: 8 } }, options: { ...options, maxDrift: 0.001 } },
    ],
    [
      'good',
      '8 of 1,958 customers checked or held (0.41 %) do not agree with the service; the brake holds them all: within the limit of 0.5 %.',
      { counts: { ...agreeing, skipped: { held: 8 } }, options: { ...options, maxDrift: 0.005 } },
    ],
    ['bad', `${one}4 of 1,950 customers checked (0.21 %) do not agree with the service.`, {}],
    [
      'good',
      `${one}4 of 1,950 customers checked (0.21 %) do not agree with the service: within the limit of 0.5 %.`,
      { options: { ...options, maxDrift: 0.005 } },
    ],
    [
      'bad',
      `${one}4 of 1,950 customers checked (0.21 %) do not agree with the service: above the limit of 0.1 %.`,
      { options: { ...options, maxDrift: 0.001 } },
    ],
    [
      'unsure',
      'Stopped before the end: 0 of 1,950 customers checked (0 %) do not agree so far.',
      { counts: agreeing, outcome: { kind: 'stopped', why: 'pace', resume: null } },
    ],
    [
      'unsure',
      'Nothing can be said: nobody could be checked.',
      { counts: { ...agreeing, checked: 0, agrees: 0 } },
    ],
    [
      'unsure',
      'Stopped before the end: nobody was checked.',
      { counts: { ...agreeing, checked: 0 }, outcome: { kind: 'stopped', why: 'pace', resume: null } },
    ],
    [
      'unsure',
      'Stopped before the end: 1 customer with access that they should not have (held by the brake). Nobody was checked.',
      {
        ...{ counts: { ...agreeing, checked: 0, skipped: { held: 1 }, ...held }, suspected: 0 },
        ...{ outcome: { kind: 'stopped', why: 'asked', resume: null }, options: { ...options, maxDrift: 1 } },
      },
    ],
    [
      'unsure',
      'Too little can be said: 10 customers checked, and 18 could not be. Does a worker run?',
      { counts: { ...agreeing, checked: 10, skipped: { owed: 18 }, noAnswer: {} }, suspected: 0 },
    ],
    [
      'unsure',
      'Too little can be said: 10 customers checked, and 18 could not be.',
      { counts: { ...agreeing, checked: 10, skipped: { rejected: 18 }, noAnswer: {} }, suspected: 0 },
    ],
    [
      'unsure',
      'There is no customer to check.',
      { counts: { ...agreeing, checked: 0, agrees: 0 }, population: 0, chosen: 0 },
    ],
    [
      'unsure',
      'There is no customer to check: nobody meets the condition.',
      { counts: { ...agreeing, checked: 0 }, chosen: 0, options: { ...options, where: 'a=1' } },
    ],
  ] as [string, string, Partial<Report>][])('%s: %s', (tone, text, given) => {
    expect(sayHeadline(aReport(given))).toMatchObject({ tone, text })
  })

  test('says who is held and where to look, and why nothing is known of the others', () => {
    const skipped = { ...counts.skipped, held: 3, discarded: 1, 'not-ours': 100 }
    const { more } = sayHeadline(aReport({ counts: { ...agreeing, skipped } }))
    expect(more[0]).toMatch(/^3 customers are held by the brake.+rollcall held/)
    expect(more[1]).toBe(
      '26 customers were not compared: 12 owed a sync, 4 written a moment ago, 2 rejected, ' +
        '1 with a difference that a person has accepted, 7 without a clear answer.',
    )
  })

  test('of rounds also of how many nobody was looked at yet', () => {
    const report = aReport({
      ...{ counts: { ...agreeing, skipped: {}, noAnswer: {} }, suspected: 0, chosen: 2000 },
      options: { ...options, from: 'ledger' },
    })
    const { text, more } = sayHeadline(report)
    expect(text).toContain('1,950 of 2,000 customers')
    expect(more).toEqual(['50 customers were not compared: not looked at lately.'])
  })

  test('begins with access, each way in words, and says nothing of it where it is right', () => {
    const headline = (access: Report['counts']['access']) =>
      sayHeadline(aReport({ counts: { ...counts, access } })).text
    expect(headline({ lost: 1200 })).toMatch(
      /^1,200 customers without the access that they should have\. 4 of/,
    )
    expect(headline({ undue: 2 })).toMatch(/^2 customers with access that they should not have\. 4 of/)
    expect(headline({})).toMatch(/^4 of 1,950/)
  })

  test('says how many of those with wrong access are held, since that is for a person', () => {
    const headline = (access: Report['counts']['access'], heldAccess: Report['counts']['access']) =>
      sayHeadline(aReport({ counts: { ...counts, access, heldAccess } })).text
    expect(headline({ undue: 149 }, { undue: 149 })).toMatch(
      /^149 customers with access that they should not have \(all of them held by the brake\)\. 4 of/,
    )
    expect(headline({ lost: 3, undue: 1 }, { lost: 2, undue: 1 })).toMatch(
      /^3 customers without .+ have \(2 of them held by the brake\), 1 with .+ have \(held by the brake\)\./,
    )
  })

  test('says what is resolved by now, and how', () => {
    const over = { resolvedAt: '2026-11-22T02:30:00.000Z', resolvedHow: 'repaired' } as const
    const findings = [aFinding(), aFinding({ id: '2', ...over }), aFinding({ id: '3', ...over })]
    const { text, more } = sayHeadline(aReport({ findings }))
    expect(text).toMatch(/^3 of 1,950/)
    expect(more[0]).toBe('Of what was found, 2 are resolved by now (repaired by rollcall: 2).')
    const { more: said } = sayHeadline(aReport({ foundLater: 2 }))
    expect(said).toContain(
      'Workers have found 2 more customers to differ after this had looked at them; they are not counted here.',
    )
    expect(sayHeadline(aReport({ foundLater: 0 })).more.join()).not.toMatch(/resolved|Workers/)
  })

  test('does not claim to know who ended a trial', () => {
    const { more } = sayHeadline(aReport())
    expect(more).toContain('1 trial is over at the service, which is no drift.')
    expect(KIND['trial-ended'].means).toContain('the service ends trials, or somebody ended it there')
  })

  test.each(DOUBTS)('says what happened, and of nobody that they are missing, when it is %s', (why) => {
    const [kinds, access] = [{ missing: 1950, 'trial-ended': 3 }, { lost: 1950 }]
    const outcome = { kind: 'not-credible', why } as const
    const { tone, text, more } = sayHeadline(aReport({ outcome, counts: { ...counts, kinds, access } }))
    expect(tone).toBe('bad')
    expect(text).not.toMatch(/\d/)
    expect(more).toHaveLength(2)
    expect(more[0]).toBe('Of 1,957 answers, 7 were not clear, and 1,950 said that there is no such user.')
  })

  test.each(STOPPED)('says how to go on when it was stopped: %s', (why) => {
    const outcome = { kind: 'stopped', why, resume: 'rollcall drift --resume 7' } as const
    const { more } = sayHeadline(aReport({ outcome }))
    expect(more).toContain('It goes on with: rollcall drift --resume 7')
    expect(more[0]?.includes('rollcall pace')).toBe(why === 'pace')
  })

  test('says before all else that it was stopped, also where access is wrong', () => {
    const stopped = { outcome: { kind: 'stopped', why: 'pace', resume: null }, chosen: 848 } as const
    expect(sayHeadline(aReport(stopped)).text).toMatch(
      /^Stopped before the end: 1 customer without the access .* do not agree with the service\.$/,
    )
    const scope = (given: Partial<Report>) => sayScope(aReport({ ...stopped, ...given }))
    expect(scope({})[0]).toEqual(['Stopped', 'before the end, with 848 of 2,000 customers looked at'])
    const { options } = aReport()
    expect(scope({ options: { ...options, sample: 1000 } })[0]?.[1]).toContain('848 of 1,000 customers')
    expect(scope({}).flat().join()).not.toContain('all of them')
  })

  test('says when repairs have stopped, and why', () => {
    const said = (among: 'run' | 'latest') =>
      sayHeadline(
        aReport({ repair: { owed: 1, already: 3, left: 2, stopped: { share: 0.12, limit: 0.05, among } } }),
      ).more.join(' ')
    expect(said('latest')).toContain(
      '1 repair is owed. 3 customers are owed a sync already. 2 customers could not be looked at again, and are owed nothing for that; the same command goes on. Repairs have stopped: 12 % of those looked at last drift',
    )
    expect(said('run')).toContain('Repairs have stopped: 12 % of those checked drift')
  })
})

test('an estimate comes with its interval, in per cent and in customers', () => {
  const of = { population: 20_000, checked: 1000, drifting: 4, share: 0.004, low: 0.0012, high: 0.01005 }
  const all = { population: 20_000, chosen: 1000 }
  expect(sayEstimate(of, all)).toBe(
    'Estimated for all 20,000 customers: 0.4 % drift; the 95 % interval goes from 0.12 % to 1 %, ' +
      'which is 24 to 201 customers.',
  )
  expect(sayEstimate({ ...of, checked: 0 }, all)).toContain('says nothing')
  // Some have no user to look at: of how many that is true, the sample tells as well.
  const some = { ...of, population: 18_000 }
  expect(sayEstimate(some, all)).toMatch(
    /^Estimated for all of whom something can be said, about 18,000 customers: .* which is about 22 to 181 customers/,
  )
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
  expect(scope.get('Source')).toBe('what workers and runs have found, without a call')
  const known = { ...options, from: 'ledger' } as const
  expect(new Map(sayScope(aReport({ options: known }))).get('Customers')).toMatch(
    /^2,000, all who have a record; a run /,
  )
  expect(new Map(sayScope(aReport())).get('Customers')).toBe('2,000, all of them')
  expect(sayMethod({ options: known }).at(-1)).toContain('workers and runs of rollcall drift have found')
  // Each kind of answer stands on the side on which it is counted.
  const [never, unreadable] = sayMethod({ options }).filter((line) => line.includes('as drift'))
  for (const told of ['No connection', '408', '429', '5xx', '401, 403', 'a 2xx that reports an error'])
    expect(never).toContain(told)
  expect(unreadable).toBe('A 2xx that holds no user, or another one, is counted as drift: unreadable.')
  expect(scope.get('Coverage')).toBe('97 % verified within 7 days; the longest ago: 2026-11-14 01:02 UTC')
  const rounds = sayScope(aReport({ coverage: { ...coverage, periodMs: 1_200_000 } }))
  expect(new Map(rounds).get('Coverage')).toMatch('97 % verified within 20 minutes;')
  expect(new Map(rounds).get('Looked at')).toBe('2026-11-22 02:00 to 02:41 UTC')
  expect(scope.get('Rate')).toBe('at most 5 calls a second')
  expect(sayUnseen({ options }).join()).toMatch(
    /country_code.*only the service knows.*out of scope, or removed, whom rollcall has never synced.*--show-values/,
  )
})
