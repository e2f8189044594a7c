import { expect, test } from 'vitest'
import { sayDiff, sayPlans, sayResult } from '../../src/cli/say-diff.ts'
import { AS, type Cause, CURRENT, causeOf, HERE, THERE, VERDICTS } from '../../src/diff/cause.ts'
import type { Diff } from '../../src/diff/diff.ts'
import type { Values } from '../../src/diff/open.ts'
import type { Row } from '../../src/diff/rows.ts'
import type { Plan } from '../../src/sync/plan.ts'

const ROW: Row = {
  field: 'service_language_code',
  here: 'set',
  issue: null,
  there: 'set',
  verdict: 'same',
  current: 'yes',
  asSent: 'yes',
  asSeen: 'never',
  cause: null,
}

const DIFF: Diff = {
  looked: {
    key: 'c',
    userId: 'c',
    should: { kind: 'user', status: 2 },
    leftOut: [],
    look: { kind: 'present', status: 2 },
    knowledge: { kind: 'not-installed' },
    next: { kind: 'right' },
    rivals: [],
  },
  result: 'same',
  rows: [ROW],
  absence: null,
  plans: { now: { kind: 'none', why: 'right' }, looked: { kind: 'none', why: 'right' } },
  records: 'comparable',
  cures: [],
}

/** Every cause that there is, from the function that gives them. */
function causes(): Cause[] {
  const all = HERE.flatMap((here) =>
    VERDICTS.flatMap((verdict) =>
      CURRENT.flatMap((current) =>
        AS.flatMap((asSeen) =>
          [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
            causeOf({
              here,
              verdict,
              current,
              asSeen,
              unknown: (bits & 1) > 0,
              owed: (bits & 2) > 0,
              fresh: (bits & 4) > 0,
            }),
          ),
        ),
      ),
    ),
  )
  return [...new Set(all)].filter((cause) => cause !== null)
}

test('whatever a row says, the table is aligned and fits eighty columns', () => {
  const rows = HERE.flatMap((here) =>
    THERE.flatMap((there) =>
      VERDICTS.flatMap((verdict) =>
        AS.map((as) => ({ ...ROW, here, there, verdict, asSent: as, asSeen: as })),
      ),
    ),
  )
  const lines = sayDiff({ ...DIFF, rows }, null).filter((said) => said.startsWith('  service_language_code'))
  expect(lines).toHaveLength(rows.length)
  for (const said of lines) {
    expect(said.length).toBeLessThanOrEqual(80)
    expect(said).not.toContain('undefined')
  }
  const starts = new Set(
    lines.map((said) => [...said.matchAll(/(?<= {2})\S/g)].map(({ index }) => index).join()),
  )
  expect(starts.size).toBe(1)
})

test('every cause has words of its own, and stands with its fields on one line', () => {
  const all = causes()
  expect(all).toHaveLength(13)
  const words = all.map((cause) => {
    const row = { ...ROW, cause, issue: cause === 'left-out' ? ('invalid' as const) : null }
    const rows = [
      { ...row, field: 'email' as const },
      { ...row, field: 'gender' as const },
    ]
    const lines = sayDiff({ ...DIFF, rows, records: 'other-key' }, null)
    for (const said of lines) expect(said.length).toBeLessThanOrEqual(80)
    const whys = lines.filter((said) => said.startsWith('  why '))
    expect(whys).toEqual([expect.stringMatching(/^ {2}why {7}email, gender: [a-z]/)])
    return whys[0]
  })
  expect(new Set(words).size).toBe(all.length)
})

test('an absence has its cause, and no table', () => {
  const causes = [
    ['not-known', 'not known: no records'],
    ['in-doubt', 'may have registered it'],
    ['never-delivered', 'never delivered'],
    ['not-delivered-since', 'found no such user'],
    ['just-written', 'may show it late'],
    ['changed-there', 'removed at the service'],
  ] as const
  for (const [absence, words] of causes) {
    const absent: Diff = { ...DIFF, result: 'differs', rows: [], absence, records: 'none' }
    const text = sayDiff(absent, null).join('\n')
    expect(text).toContain(words)
    expect(text).toMatch(/differs: not registered/)
    expect(text).not.toContain('as sent')
  }
})

const NONE: Plan = { kind: 'none', why: 'right' }
const LOOKUP: Plan = { kind: 'lookup', why: 'unknown' }
const PATCH: Plan = {
  kind: 'patch',
  body: { status: 2, email: 'secret@example.com' },
  fields: ['email'],
  carried: false,
}
const PLANS: readonly (readonly [Plan, Plan | null, RegExp])[] = [
  [NONE, NONE, /^nothing to send: [^;]*$/],
  [NONE, null, /^nothing to send: [^;]*$/],
  [PATCH, PATCH, /^update \(PATCH\) with status, email$/],
  [PATCH, NONE, /^update \(PATCH\) [^;]*; with --look: nothing to send/],
  [NONE, PATCH, /^nothing to send, .*remembers; with --look: update \(PATCH\)/],
  [LOOKUP, PATCH, /^look first \(GET\)[^;]*; then: update \(PATCH\)/],
]

test.each(PLANS)('the plan %j, after a look %j', (now, looked, words) => {
  expect(sayPlans({ ...DIFF, plans: { now, looked } })).toMatch(words)
})

test('where the plan cannot be known, it is said why', () => {
  expect(sayPlans({ ...DIFF, plans: null })).toContain('cannot be read')
  expect(sayPlans({ ...DIFF, records: 'other-key' })).toContain('ROLLCALL_DIGEST_KEY')
  const left = { next: { kind: 'left-alone', why: 'never-ours' } } as const
  const plans = {
    now: { kind: 'none', why: 'never-ours' },
    looked: { kind: 'revoke', body: { status: 0 } },
  } as const
  expect(sayPlans({ ...DIFF, looked: left, plans })).toMatch(/^nothing to send: [^;]*never in scope$/)
})

test('every result begins with its word, and names what differs', () => {
  const differing = { ...ROW, verdict: 'differs', field: 'email' } as const
  expect(sayResult({ ...DIFF, result: 'differs', rows: [ROW, differing] })).toBe('differs: email')
  const shared = { ...DIFF.looked, next: { kind: 'blocked', why: 'shared-user-id', keys: ['d'] } } as const
  const blocked: Diff = { ...DIFF, result: 'differs', looked: shared, rows: [differing] }
  expect(sayResult(blocked)).toMatch(/^differs: email, .*cannot be sent/)
  expect(sayDiff(blocked, null).join('\n')).toMatch(/same user: d$/m)
  const unreadable = { ...DIFF.looked, should: { kind: 'unreadable', code: '22012' } } as const
  expect(sayResult({ ...DIFF, result: 'unknown', looked: unreadable })).toMatch(/^unknown: .*row/)
  expect(sayResult({ ...DIFF, rows: [{ ...ROW, verdict: 'trial-ended' }] })).toMatch(/trial/)
})

test('no value is told unless it is handed in; then quoted, and nothing of it is obeyed', () => {
  const values: Values = new Map([[ROW.field, { here: ' es\u001b[2J', service: { odd: '\u202e' } }]])
  expect(sayDiff(DIFF, null).join('\n')).not.toContain('es\\u001b')
  const text = sayDiff(DIFF, values).join('\n')
  expect(text).toContain('service_language_code  here     " es\\u001b[2J"\n')
  expect(text).toContain('service  {"odd":"\\u202e"}')
  const both: Values = new Map([[ROW.field, { here: 'es', service: 'es' }]])
  expect(sayDiff(DIFF, both)).toContain('  service_language_code  both     "es"')
})
