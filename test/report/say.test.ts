import { describe, expect, test } from 'vitest'
import { percent } from '../../src/report/figures.ts'
import { DOUBTS, type Report, STOPPED } from '../../src/report/report.ts'
import { sayEstimate, sayHeadline } from '../../src/report/say.ts'
import { sayScope, sayUnseen } from '../../src/report/scope.ts'
import { aReport } from './scene.ts'

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
  const agreeing = { ...counts, agrees: 1950, kinds: {} }

  test.each([
    ['good', 'Everybody who was checked agrees with the service: 1,950 customers.', { counts: agreeing }],
    ['bad', '4 of 1,950 customers checked (0.21 %) do not agree with the service.', {}],
    [
      'good',
      '4 of 1,950 customers checked (0.21 %) do not agree with the service: within the limit of 0.5 %.',
      { options: { ...options, maxDrift: 0.005 } },
    ],
    [
      'bad',
      '4 of 1,950 customers checked (0.21 %) do not agree with the service: above the limit of 0.1 %.',
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
      'good',
      'There is no customer to check.',
      { counts: { ...agreeing, checked: 0, agrees: 0 }, population: 0, chosen: 0 },
    ],
  ] as [string, string, Partial<Report>][])('%s: %s', (tone, text, given) => {
    expect(sayHeadline(aReport(given))).toMatchObject({ tone, text })
  })

  test.each(DOUBTS)('says what happened, and of nobody that they are missing, when it is %s', (why) => {
    const kinds = { missing: 1950, 'trial-ended': 3 }
    const outcome = { kind: 'not-credible', why } as const
    const { tone, text, more } = sayHeadline(aReport({ outcome, counts: { ...counts, kinds } }))
    expect(tone).toBe('bad')
    expect(text).not.toMatch(/\d/)
    expect(more).toHaveLength(2)
    expect(more[0]).toBe('Of 1,957 answers, 7 were not clear, and 1,950 said that there is no such user.')
  })

  test.each(STOPPED)('says how to go on when it was stopped: %s', (why) => {
    const outcome = { kind: 'stopped', why, resume: 'rollcall drift --resume 7' } as const
    expect(sayHeadline(aReport({ outcome })).more).toContain('It goes on with: rollcall drift --resume 7')
  })

  test('says when repairs have stopped, and why', () => {
    const said = (among: 'run' | 'latest') =>
      sayHeadline(
        aReport({ repair: { owed: 1, left: 2, stopped: { share: 0.12, limit: 0.05, among } } }),
      ).more.join(' ')
    expect(said('latest')).toContain(
      '1 repair is owed. 2 customers could not be looked at again, and are owed nothing for that; the same command goes on. Repairs have stopped: 12 % of those looked at last drift',
    )
    expect(said('run')).toContain('Repairs have stopped: 12 % of those checked drift')
  })
})

test('an estimate comes with its interval, in per cent and in customers', () => {
  const of = { population: 20_000, checked: 1000, drifting: 4, share: 0.004, low: 0.0012, high: 0.01005 }
  expect(sayEstimate(of)).toBe(
    'Estimated for all 20,000 customers: 0.4 % drift; the 95 % interval goes from 0.12 % to 1 %, ' +
      'which is 24 to 201 customers.',
  )
  expect(sayEstimate({ ...of, checked: 0 })).toContain('says nothing')
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
  expect(scope.get('Coverage')).toBe('97 % verified within 7 days; the longest ago: 2026-11-14 01:02 UTC')
  const rounds = sayScope(aReport({ coverage: { ...coverage, periodMs: 1_200_000 } }))
  expect(new Map(rounds).get('Coverage')).toMatch('97 % verified within 20 minutes;')
  expect(new Map(rounds).get('Looked at')).toBe('2026-11-22 02:00 to 02:41 UTC')
  expect(scope.get('Rate')).toBe('at most 5 calls a second')
  expect(sayUnseen({ options }).join()).toMatch(/country_code.*only the service knows.*--show-values/)
})
