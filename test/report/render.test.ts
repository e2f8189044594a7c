import { describe, expect, test } from 'vitest'
import { NOT_CREDIBLE, STOP_REASONS } from '../../src/drift/words.ts'
import { renderEstimate, renderHeadline } from '../../src/report/render.ts'
import type { Report } from '../../src/report/report.ts'
import { renderScope } from '../../src/report/scope.ts'
import { aFinding, aReport } from './scene.ts'

const { counts, options } = aReport()
const agreeing = { ...counts, agrees: 1950, kinds: {}, access: {} }
const said = (given: Partial<Report>) => renderHeadline(aReport(given))
const withCounts = (over: Partial<Report['counts']>) => said({ counts: { ...counts, ...over } })

describe('the headline', () => {
  const held = { access: { undue: 1 }, heldAccess: { undue: 1 } }
  const settled = { ...agreeing, skipped: { 'not-ours': 50 }, noAnswer: {} } as const
  const stopped = { outcome: { kind: 'stopped', why: 'pace', resume: null } } as const
  const limit = (maxDrift: number) => ({ options: { ...options, maxDrift } })

  test.each<[string, RegExp, Partial<Report>]>([
    ['good', /^No drift: 1,950 customers were checked\.$/, { counts: settled, suspected: 0 }],
    ['good', /^No drift: 1,950 customers/, { counts: agreeing, suspected: 0 }],
    ['unsure', /1,950 .* 3 more/, { counts: agreeing }],
    ['bad', /^1 of 1,951 .*customers \(0\.05 %\).*\(held/, { counts: { ...agreeing, skipped: { held: 1 } } }],
    [
      'bad',
      /\. 12 of 1,958 .*\(8 of them held.*0\.1 %/,
      { counts: { ...counts, skipped: { held: 8 } }, ...limit(0.001) },
    ],
    [
      'good',
      /^8 of 1,958 .*\(all .*held.*0\.5 %/,
      { counts: { ...agreeing, skipped: { held: 8 } }, suspected: 0, ...limit(0.005) },
    ],
    ['bad', /^1 .* wrongly without .*, 1 is wrongly with .*\. 4 of 1,950 checked .*\(0\.21 %\) [^:]*$/, {}],
    ['good', /\. 4 of 1,950 .*: within .* 0\.5 %\.$/, limit(0.005)],
    ['unsure', /^Stopped .*\. No drift so far: 1,950 /, { counts: agreeing, ...stopped }],
    ['unsure', /^The drift is not known: no customer/, { counts: { ...agreeing, checked: 0, agrees: 0 } }],
    ['unsure', /^Stopped .*\. No customer/, { counts: { ...agreeing, checked: 0 }, ...stopped }],
    [
      'unsure',
      /^Stopped .*\. 1 customer is wrongly with .* \(held [^)]*\)\. No customer/,
      {
        counts: { ...agreeing, checked: 0, skipped: { held: 1 }, ...held },
        suspected: 0,
        ...stopped,
        ...limit(1),
      },
    ],
    [
      'unsure',
      /only 10\. .*worker/,
      { counts: { ...settled, checked: 10, skipped: { owed: 18 } }, suspected: 0 },
    ],
    [
      'unsure',
      /only 10\.$/,
      { counts: { ...settled, checked: 10, skipped: { rejected: 18 } }, suspected: 0 },
    ],
    [
      'unsure',
      /^There is no customer [^:]*$/,
      { counts: { ...agreeing, checked: 0 }, population: 0, chosen: 0 },
    ],
    [
      'unsure',
      /^There is no customer .*--where/,
      { counts: { ...agreeing, checked: 0 }, chosen: 0, options: { ...options, where: 'a=1' } },
    ],
  ])('%s: %s', (tone, text, given) => {
    expect(said(given)).toMatchObject({ tone, text: expect.stringMatching(text) })
  })

  test('begins with access, each way in words, says who of them is held, and nothing where it is right', () => {
    const headline = (access: Report['counts']['access'], heldAccess: Report['counts']['access'] = {}) =>
      withCounts({ access, heldAccess }).text
    expect(headline({ lost: 1200 })).toMatch(/^1,200 customers are wrongly without [^,]*\. 4 of/)
    expect(headline({ undue: 2 })).toMatch(/^2 customers are wrongly with [^,]*\. 4 of/)
    expect(headline({})).toMatch(/^4 of 1,950/)
    expect(headline({ undue: 149 }, { undue: 149 })).toMatch(/^149 .*\(all 149 held [^)]*\)\. 4 of/)
    expect(headline({ lost: 3, undue: 1 }, { lost: 2, undue: 1 })).toMatch(
      /^3 customers are wrongly without .+ \(2 of them held [^)]*\), 1 is wrongly with .+ \(held [^)]*\)\./,
    )
  })

  test.each(NOT_CREDIBLE)('says what happened, and names no missing customer, when it is %s', (why) => {
    const [kinds, access] = [{ missing: 1950, 'trial-ended': 3 }, { lost: 1950 }]
    const outcome = { kind: 'not-credible', why } as const
    const { tone, text, more } = said({ outcome, counts: { ...counts, kinds, access } })
    expect(tone).toBe('bad')
    expect(text).not.toMatch(/\d/)
    expect(more).toHaveLength(2)
    expect(more[0]).toMatch(/^1,957 checks: 1,950 × .*no such user; 7 × /)
  })
})

describe('besides', () => {
  test('who is held and where to look, and why nothing is known of the others', () => {
    const skipped = { ...counts.skipped, held: 3, discarded: 1, 'not-ours': 100 }
    const { more } = said({ counts: { ...agreeing, skipped } })
    expect(more[0]).toMatch(/`rollcall held` lists changes that the brake holds/)
    const outcome = { kind: 'not-credible', why: 'many-missing' } as const
    expect(said({ outcome, counts: { ...agreeing, skipped } }).more.at(-1)).toBe(more[0])
    expect(more[1]).toMatch(/^26 .*: 12 owed .*; 4 written .*; 2 rejected .*; 1 .*as drift\); 7 without/)
  })

  test('what is resolved by now, and how; and what workers have found later', () => {
    const over = { resolvedAt: '2026-11-22T02:30:00.000Z', resolvedHow: 'repaired' } as const
    const findings = [aFinding(), aFinding({ id: '2', ...over }), aFinding({ id: '3', ...over })]
    expect(said({ findings }).more[0]).toMatch(/^2 findings are resolved .*\(repaired [^:]*\)\./)
    expect(said({ foundLater: 2 }).more.join()).toMatch(/Workers .* 2 more .*not count/)
    expect(said({ foundLater: 0 }).more.join()).not.toMatch(/resolved|Workers/)
    expect(said({}).more).toContainEqual(expect.stringMatching(/ 1 ended trial, which does not count/))
    expect(said({}).more.at(-1)).toContain('`rollcall drift --repair`')
    const held = said({ findings: Array.from({ length: 4 }, () => aFinding({ held: true })) })
    expect(held.text).toMatch(/4 of .*\(all 4 held/)
    expect(held.more.join()).toMatch(/^(?!.*--repair).*`rollcall held`/)
  })

  test.each(STOP_REASONS)('how to go on when it was stopped: %s', (why) => {
    const outcome = { kind: 'stopped', why, resume: 'rollcall drift --resume 7' } as const
    const { more } = said({ outcome })
    expect(more).toContainEqual(expect.stringContaining('rollcall drift --resume 7'))
    expect(more[0]?.includes('rollcall pace')).toBe(why === 'pace')
  })
})

test('an estimate comes with its interval, in per cent and in customers', () => {
  const of = { population: 20_000, checked: 1000, drifting: 4, share: 0.004, low: 0.0012, high: 0.01005 }
  const all = { population: 20_000, chosen: 1000 }
  expect(renderEstimate(of, all)).toMatch(/ 0\.4 % of all 20,000 .* 95 % .* 0\.12 % to 1 %: 24 to 201 /)
  expect(renderEstimate({ ...of, checked: 0 }, all)).toContain('says nothing')
  // Some have no user to check: of how many that is true, the sample tells as well.
  const some = { ...of, population: 18_000 }
  expect(renderEstimate(some, all)).toMatch(
    /^Of all .* about 18,000 can be compared\. By this sample, .*about 22 to 181 /,
  )
  expect(renderEstimate(some, { ...all, chosen: 20_000 }), 'all were drawn').not.toContain('about')
})

describe('the scope', () => {
  const scope = (given: Partial<Report> = {}) => new Map(renderScope(aReport(given)))
  const known = { ...options, from: 'ledger' } as const

  test('is who was checked, when and how fast', () => {
    const coverage = { periodMs: 604_800_000, share: 0.97, oldest: '2026-11-14T01:02:03.000Z' }
    const rows = scope({ coverage, options: { ...known, where: 'a = 1', rate: 5, sample: 100 } })
    expect(rows.get('Customers')).toBe('2,000, where a = 1')
    expect(rows.get('Source')).toContain('no call')
    expect(rows.get('Coverage')).toMatch(/ 7d, workers checked 97 % .* 2026-11-14 01:02 UTC$/)
    expect(rows.get('Rate')).toBe('at most 5 calls/s')
    expect(scope({ options: known }).get('Customers')).toMatch(/^2,000 that .*record/)
    expect(scope().get('Customers')).toBe('2,000')
    expect(scope().get('Time')).toBe('2026-11-22 02:00 to 02:41 UTC')
    const ended = (endedAt: string) => scope({ endedAt }).get('Time')
    expect(ended('2026-11-22T02:00:59.000Z')).toBe('2026-11-22 02:00 UTC')
    expect(ended('2026-11-23T02:41:00.000Z')).toBe('2026-11-22 02:00 to 2026-11-23 02:41 UTC')
  })

  test('says first that it was stopped, and does not claim all customers', () => {
    const stopped = { outcome: { kind: 'stopped', why: 'pace', resume: null }, chosen: 848 } as const
    expect([...scope(stopped)][0]).toEqual(['Stopped', expect.stringContaining('848 of 2,000')])
    const sampled = scope({ ...stopped, options: { ...options, sample: 1000 } })
    expect(sampled.get('Stopped')).toContain('848 of 1,000')
    expect([...scope(stopped)].flat().join()).not.toContain('handled 2,000')
    const outcome = { kind: 'not-credible', why: 'many-missing' } as const
    expect(scope({ outcome, chosen: 848 }).get('Customers')).toBe('2,000, of which the run handled 848')
  })
})
