import { expect, test } from 'vitest'
import { renderAccess, renderFields, renderOne, renderRemedy } from '../../src/cli/explanation.ts'
import { renderNext } from '../../src/cli/render-next.ts'
import { DRIFT_CAUSES } from '../../src/drift/words.ts'
import type { Explanation } from '../../src/explain/explain.ts'
import type { FieldRow } from '../../src/explain/fields.ts'
import type { RedactedPlan } from '../../src/explain/redact.ts'
import { REMEDIES, type Remedy, VERDICTS } from '../../src/explain/verdicts.ts'
import type { History } from '../../src/ledger/history.ts'
import type { FieldIssue } from '../../src/model/customer.ts'
import { BARE_HISTORY } from '../support/history.ts'

const ROW: FieldRow = {
  ...{ field: 'service_language_code', here: 'unmanaged', service: 'not-shown', state: 'not-shown' },
  ...{ cause: null, issue: null },
}
const RIGHT: RedactedPlan = { kind: 'none', why: 'right' }
const ONE: Explanation = {
  ...{ key: 'c', userId: 'c', desired: { kind: 'user', status: 2 }, leftOut: [], mapped: null },
  service: { kind: 'present', status: 2 },
  rollcall: { kind: 'known', history: null, applied: true, truncated: null },
  ...{ plan: RIGHT, planAfterLookup: RIGHT, withoutLedger: false, result: 'same', drift: null, fields: [] },
  ...{ access: { can: 'yes', why: 'full' }, remedies: [], token: null, erases: false },
  ...{ claimants: [], discarded: false },
}
const KNOWN = { kind: 'known', history: null, truncated: null } as const
const STATES = ['same', 'spelling', 'differs', 'trial-ended', 'left-out', 'unmanaged', 'not-shown'] as const

test('whatever a row says, the table is aligned and fits eighty columns', () => {
  const fields = STATES.flatMap((state) =>
    DRIFT_CAUSES.map((cause) => ({ ...ROW, state, cause: state === 'differs' ? cause : null })),
  )
  const [, head = '', ...lines] = renderFields({ ...ONE, fields })
  const at = head.indexOf('state')
  for (const each of lines.filter((text) => text !== '')) {
    expect(each.length).toBeLessThanOrEqual(80)
    expect(each.slice(at - 2, at)).toBe('  ')
  }
})

test('a customer that is missing has a cause and no table', () => {
  const drift = { kind: 'missing', fields: [], cause: 'never-delivered', access: 'lost' } as const
  expect(
    renderFields({ ...ONE, drift })
      .join('')
      .replaceAll(/ +/g, ' '),
  ).toBe(' cause never delivered: the service has never acknowledged what your data asks for now')
})

const PATCH: RedactedPlan = { kind: 'patch', sends: ['status'], status: 2, fields: [], keepsStatus: false }
const LOOKUP: RedactedPlan = { kind: 'lookup', why: 'unknown' }

test.each([
  [RIGHT, RIGHT, /^nothing to send$/],
  [RIGHT, PATCH, /^nothing, because .* difference\. `rollcall sync c --lookup` would send: update /],
  [LOOKUP, RIGHT, /^nothing to send$/],
  [LOOKUP, PATCH, /^lookup \(GET\) first, then: update \(PATCH\) with status$/],
  [PATCH, null, /^update \(PATCH\) with status$/],
] as const)('the plan %j, and after a lookup %j', (plan, planAfterLookup, words) => {
  expect(renderNext({ ...ONE, plan, planAfterLookup })).toMatch(words)
})

test('a mapping that is not active sends nothing, also where a GET shows no difference', () => {
  const rollcall = { ...KNOWN, applied: false }
  const words = renderNext({ ...ONE, plan: PATCH, planAfterLookup: RIGHT, rollcall })
  expect(words).toMatch(/^nothing, because this mapping .*: update \(PATCH\) with status$/)
})

test('a revocation says that an erasure follows it, and a status that it goes first', () => {
  const plan: RedactedPlan = { kind: 'revoke', sends: ['status'], status: 0 }
  const next = renderNext({ ...ONE, plan, planAfterLookup: null, erases: true })
  expect(next).toBe('revoke access (PATCH with status 0), then erase the personal fields')
  const first = renderNext({ ...ONE, plan: { ...PATCH, statusFirst: true }, planAfterLookup: null })
  expect(first).toMatch(/ \(two calls: first the status, then the other fields\)$/)
})

test('a user whose personal fields are still there is the same, and says so', () => {
  const sends = { sends: ['status', 'email'], status: 0, fields: ['email' as const] } as const
  const planAfterLookup = { kind: 'erase' as const, ...sends, sends: [...sends.sends] }
  const [first] = renderOne({ ...ONE, planAfterLookup }, 'all', [])
  expect(first).toMatch(/access is revoked, as desired\. The personal fields/)
})

test('a held change is announced for after its release, unless a sync is owed', () => {
  const next = (state: string, owed: boolean, more = {}, planAfterLookup: RedactedPlan | null = null) => {
    const rollcall = { ...KNOWN, history: { state, owed, ...more } as History, applied: true }
    return renderNext({ ...ONE, plan: PATCH, planAfterLookup, rollcall, discarded: state === 'discarded' })
  }
  expect(next('held', false)).toBe(
    'nothing, until a person releases the change; then: update (PATCH) with status',
  )
  expect(next('held', true)).toBe('update (PATCH) with status, unless the brake holds the change again')
  expect(next('held', true, { released: true, capturedMs: null })).toBe('update (PATCH) with status')
  expect(next('held', true, { released: true, capturedMs: 9 })).toMatch(/unless the brake holds/)
  for (const owed of [true, false])
    expect(next('discarded', owed)).toMatch(/^at most: update .* with status\. The discarded change/)
  const after = /^nothing. If the row or the mapping changes: update/
  for (const lookup of [null, RIGHT]) expect(next('rejected', false, {}, lookup)).toMatch(after)
})

test('whether a customer has access has words, and begins with yes, no or unknown', () => {
  for (const [why, { can }] of Object.entries(VERDICTS)) {
    const access = { can, why } as Explanation['access']
    expect(renderAccess({ ...ONE, access })).toMatch(new RegExp(`^${can}: \\w+`))
  }
  expect(renderAccess({ ...ONE, claimants: ['a'] })).toContain('customer a, which has the same user_id')
})

test('the keys of others move no cursor', () => {
  const said = renderOne({ ...ONE, claimants: ['a\u001b[2J'] }, 'access', []).join(' ')
  expect(said).toContain('a\\u001b[2J')
  expect(said).not.toContain('\u001b')
})

test('every remedy has words, and a command that a shell takes', () => {
  const rollcall = { kind: 'other-target', differences: [], todo: 'run x again' } as const
  const mark = { id: '1', kind: 'truncate', relation: 'public.t', since: '2026-11-28T11:48:00Z' } as const
  const truncated = { kind: 'known', history: null, applied: true, truncated: mark } as const
  for (const name of Object.keys(REMEDIES) as Remedy['do'][]) {
    const records = name === 'restore-rows' ? truncated : rollcall
    const desired = { kind: 'unreadable', reason: { code: 'customer-unreadable', error: '22012' } } as const
    const words = renderRemedy({ do: name, waitMs: null }, { ...ONE, desired, rollcall: records })
    expect(words.length).toBeGreaterThan(10)
  }
  const said = (key: string) => renderRemedy({ do: 'sync', waitMs: null }, { ...ONE, key })
  expect(said('4711')).toBe('run `rollcall sync 4711 --lookup`')
  expect(said(`["ES", "it's"]`)).toBe(`run \`rollcall sync '["ES", "it'\\''s"]' --lookup\``)
  expect(said('-x')).toContain(`'-x'`)
  const removed = { ...ONE, desired: { kind: 'removed' } as const }
  expect(renderRemedy({ do: 'sync', waitMs: null }, removed)).toMatch(/^check the key\. .*--lookup --removed/)
  expect(renderRemedy({ do: 'try-later', waitMs: 300_000 }, ONE)).toBe('try again in 5 min')
  const trial = { ...ONE, service: { kind: 'present', status: 4 } } as const
  expect(renderRemedy({ do: 'ask-about-chat', waitMs: null }, trial)).toContain('the trial has ended')
  const history = { state: 'discarded' } as NonNullable<History>
  const discarded = { ...ONE, rollcall: { ...KNOWN, history, applied: true } } as const
  expect(renderRemedy({ do: 'decide', waitMs: null }, ONE)).toMatch(/^see `rollcall held c`/)
  const gone = { ...discarded, service: { kind: 'absent', http: 404, json: true } } as const
  const decide = (one: Explanation) => renderRemedy({ do: 'decide', waitMs: null }, one)
  expect(decide(discarded)).toMatch(
    /^to send .* `rollcall held release c.* other changes, if there are any, run `rollcall sync/,
  )
  expect(decide(gone)).toMatch(/^check SERVICE_URL\. Then: to send .* `rollcall held release c/)
  const denied = {
    ...ONE,
    desired: { kind: 'unreadable', reason: { code: 'customer-unreadable', error: '42501' } },
  } as const
  expect(renderRemedy({ do: 'make-readable', waitMs: null }, denied)).toMatch(/^grant SELECT/)
})

test('what blocks a customer has its reason and its remedy, whatever else is left out', () => {
  const leftOut: FieldIssue[] = [{ field: 'email', code: 'invalid', expected: 'an e-mail address' }]
  const blocked = { ...ONE, leftOut, result: 'blocked', remedies: [{ do: 'correct', waitMs: null }] } as const
  const lines = (one: Explanation) =>
    renderOne(one, 'all', [])
      .join('\n')
      .replaceAll(/\n {12}/g, ' ')
  const shared = lines({ ...blocked, plan: { kind: 'reject', code: 'shared-user-id', keys: ['d'] } })
  expect(shared).toContain('result    cannot be sent: customer d, also in scope, has the same user_id\n')
  expect(shared).toContain(
    'to do     give each customer its own user_id, or keep only one of them in scope\n',
  )
  const issues = [{ field: 'status', code: 'missing', expected: 'a status' }] as const
  const mapped = { ...blocked, desired: { kind: 'rejected', issues } } as const
  const odd = lines({ ...mapped, plan: { kind: 'reject', code: 'mapping', keys: [] } })
  expect(odd).toContain('result    cannot be sent: the mapping cannot build a user from the row (status)\n')
  expect(odd).toContain('to do     correct the value for status in your data')
})

test('a refusal that is over asks for nothing', () => {
  const reason = { code: 'refused', status: 404 } as const
  const history = { ...BARE_HISTORY, state: 'failing', owed: true, reason } as const
  const failing = { ...ONE, rollcall: { ...ONE.rollcall, kind: 'known', history } } as Explanation
  const said = (over: Partial<Explanation>) => renderOne({ ...failing, ...over }, 'all', []).join('\n')
  expect(said({})).toContain('to do     nothing: workers retry automatically')
  expect(said({ result: 'unknown' })).toContain('to do     check SERVICE_URL')
  const refused = { ...history, state: 'rejected', owed: false, reason: { code: 'refused', status: 422 } }
  const rollcall = { ...ONE.rollcall, kind: 'known', history: refused } as Explanation['rollcall']
  const correct = { do: 'correct', waitMs: null } as const
  expect(said({ rollcall, result: 'differs', remedies: [correct] })).toMatch(/failures --retry\s+c`/)
})

test('`access` answers first whether the customer has access; a silent service is told of once', () => {
  const differs = { ...ONE, result: 'differs', drift: null } as const
  const labels = (one: Explanation, view: 'all' | 'access') =>
    renderOne(one, view, []).flatMap((line) => /^ {2}(\S+) /.exec(line)?.[1] ?? [])
  expect(labels(differs, 'access').slice(0, 2)).toEqual(['access', 'result'])
  expect(labels(differs, 'all').slice(0, 2)).toEqual(['result', 'access'])
  const service = { kind: 'not-asked', why: 'not-wanted', waitMs: null } as const
  const access = { can: 'unknown', why: 'no-answer' } as const
  expect(labels({ ...ONE, result: 'unknown', service, access }, 'all')[0]).toBe('access')
})

test('a table without triggers is named as the cause, and not the row, which can be read', () => {
  const reason = { code: 'unwatched', misfits: ['public.t without x'] } as const
  const desired = { kind: 'unreadable', reason } as const
  const remedies = [{ do: 'install-capture', waitMs: null }] as const
  const one: Explanation = { ...ONE, desired, remedies, result: 'unknown', plan: null, planAfterLookup: null }
  const text = renderOne(one, 'all', [])
    .join('\n')
    .replaceAll(/\n {12}/g, ' ')
  expect(text).toMatch(/^ {2}result +unknown: the row is missing .* lacks active triggers$/m)
  expect(text).toMatch(/to do +a watched table .* restore .*`rollcall capture install`/)
  expect(text).toMatch(
    /desired +not known: .* triggers \(public.t without x\), and until it has them rollcall takes no access away/,
  )
  expect(text).toContain('next      nothing is sent until the table has active triggers')
  expect(text).not.toMatch(/could not be read|does not fit/)
})

test('no value is printed unless it is handed in; then quoted, and nothing of it is obeyed', () => {
  const valued = [
    ['email', { here: 'a\u001b', service: 7 }],
    ['country_code', { here: 'ES', service: null }],
    ['first_name', { here: 'Ana ', service: 'Ana ' }],
    ['last_name', { here: null, service: { odd: true } }],
  ] as const
  const fields = valued.map(
    ([field, values]): FieldRow => ({
      ...{ ...ROW, field, values },
      service: field === 'country_code' ? 'not-shown' : 'set',
    }),
  )
  const without = fields.map(({ values: _values, ...row }) => row)
  expect(renderFields({ ...ONE, fields: without }).join('\n')).not.toMatch(/Ana|ES|odd/)
  expect(renderFields({ ...ONE, fields }).slice(-9)).toEqual([
    '',
    '  email         desired  "a\\u001b"',
    '                service  7',
    '  country_code  desired  "ES"',
    '                service  not shown',
    '  first_name    both     "Ana "',
    '  last_name     desired  –',
    '                service  {"odd":true}',
    '',
  ])
})
