import { expect, test } from 'vitest'
import { columns } from '../../src/cli/render.ts'
import { CALLS, renderStored } from '../../src/cli/render-history.ts'
import type { History, LoggedCall } from '../../src/ledger/history.ts'
import type { FieldIssue } from '../../src/model/customer.ts'
import { BARE_HISTORY, LOGGED_CALL } from '../support/history.ts'

const CALL: LoggedCall = {
  ...{ ...LOGGED_CALL, at: '2026-11-21T10:00:01.250Z', by: 'worker web-1/4711', status: 200, ms: 35 },
}
const SETTLED: NonNullable<History> = {
  ...{ ...BARE_HISTORY, since: '2026-11-21T10:00:01.300Z', changedAt: '2026-11-21T10:00:00.100Z' },
  ...{ acknowledgedAt: '2026-11-21T10:00:01.300Z', writtenAgoMs: 5, acknowledgedStatus: 2, metBefore: true },
  ...{ userId: 'u-1', remote: 'present' },
}

const said = (over: Partial<NonNullable<History>>) => renderStored({ ...SETTLED, ...over }, 'c1').join('\n')

test('a settled customer: the proof as times, never where there is none', () => {
  expect(renderStored({ ...SETTLED, calls: [CALL] }, 'c1')).toEqual([
    'customer c1',
    '  user      u-1 (at the last sync the service had this user)',
    '  sync      not owed; the last accepted write was under 1 s ago',
    '  state     settled',
    expect.stringMatching(/^ {2}times {5}changed {6}2026-11-21 10:00:00 UTC/),
    '                         sync that was processed)',
    expect.stringMatching(/^ {12}acknowledged 2026-11-21 10:00:01 UTC/),
    '            verified     none is recorded',
    '',
    'TIME (UTC)           CALL   ANSWER   TOOK  PLAN   MEANING  BY',
    '2026-11-21 10:00:01  PATCH  200     35 ms  patch  done     worker web-1/4711',
    '    with    status, email',
  ])
})

test('a failing customer: why, what to do, attempts, and when the next one is', () => {
  const reason = { code: 'unknown', status: 503 } as const
  const due = { owed: true, overdueMs: -180_000, nextInMs: 180_000 }
  const text = said({ ...due, state: 'failing', reason, attempts: 4, unknown: true })
  expect(text).toMatch(/state {5}failing since 2026-11-21 10:00 UTC: .*HTTP\s+503/s)
  expect(text).not.toContain('owed sync')
  expect(text).toMatch(/sync {6}owed; next attempt in 3 min\n {2}sync {6}4 attempts/)
  expect(text).toMatch(/lookup\s+\(GET\)\s+comes\s+before\s+the\s+next\s+write/)
})

const HELD = { state: 'held', reason: { code: 'held', kinds: ['revocation'] } } as const

test.each([
  [{ underWay: true, owed: true }, /sync {6}owed; an attempt is under way/],
  [{ overdueMs: 5, owed: true }, /owed; due now/],
  [
    { ...HELD, capturedMs: 5, owed: true },
    /owed: .*captured.*may\s+end\s+this\s+state.*to do {5}nothing: workers retry/s,
  ],
  [{ userId: null, remote: 'unasked' as const }, /no user_id yet \(no sync has found out/],
])('%j', (over, text) => expect(said(over)).toMatch(text))

test('a held customer that a person has released: its sync is due, and nothing is to be decided', () => {
  expect(said({ ...HELD, released: true })).toMatch(/state {5}released: .*approved\s.*to do {5}nothing/s)
})

test('a part of the change that a person has discarded is said beside another reason', () => {
  const reason = { code: 'failed', status: 503 } as const
  const discard = { kinds: ['status'], desired: 'd' }
  expect(said({ state: 'failing', reason })).not.toContain('discarded')
  expect(said({ state: 'failing', reason, discard })).toMatch(/person has discarded .* \(status\)/)
})

test('a settled customer with an answer that was not clear: a lookup verifies it', () => {
  expect(said({ unverified: true })).toMatch(/state {5}settled; .*another GET/)
})

test('a refusal that names no field is one issue with all its fields', () => {
  const refused = ['email', 'first_name'].map(
    (field) => ({ field, code: 'refused', expected: 'x' }) as FieldIssue,
  )
  expect(said({ issues: refused })).toMatch(/to do .*\n(?: {12}.*\n)* {2}left out {2}.*: email, first_name\n/)
  const failing = { state: 'failing', issues: refused, reason: { code: 'refused', status: 400 } } as const
  expect(said(failing)).toMatch(
    /to do {5}workers retry automatically.*to do {5}check the values of email, first_name/s,
  )
})

test('an open difference: which fields, since when, why, and how often a repair was owed', () => {
  const finding = {
    ...{ kind: 'differs', fields: ['email'], cause: 'edited-at-service' },
    ...{ access: null, checks: 2, repairs: 3 },
    firstSeen: '2026-11-21T10:00:00Z',
  }
  expect(said({ finding })).toMatch(
    /finding {3}differs: email\n.* first seen .* by a second check\n.* changed at the service\n.* requested 3 /,
  )
  expect(said({ finding: { ...finding, checks: 1, repairs: 0 } })).toMatch(/not\s+confirmed/)
})

test('with as many calls as fit, the command that shows more', () => {
  const more = "  more      `rollcall explain '$$' --calls 50` may show more calls"
  expect(renderStored({ ...SETTLED, calls: Array(CALLS).fill(CALL) }, '$$').at(-1)).toBe(more)
  expect(said({ calls: [CALL] })).not.toContain('--calls')
})

test('a change that fails is none that was settled', () => {
  expect(said({ changedAt: null, state: 'failing' })).toMatch(/changed +none is recorded/)
})

test('a customer about which nothing is known', () => {
  expect(renderStored(null, 'c\u202e1')).toEqual([
    expect.stringMatching(/no record .* c\\u202e1: check the key; .*run$/),
    expect.stringContaining('sync'),
  ])
})

test('columns are as wide as their widest cell, and what a terminal would obey is shown', () => {
  expect(
    columns([
      ['A', 'B'],
      ['long', 'x'],
      ['\u001b[2J', 'y'],
    ]),
  ).toEqual(['A          B', 'long       x', '\\u001b[2J  y'])
  expect(columns([])).toEqual([])
  const [key, by] = ['k'.repeat(20), `worker ${'x'.repeat(60)}`]
  expect(
    columns([
      ['A', 'BY'],
      [key, by],
    ]),
  ).toEqual([`A${' '.repeat(21)}BY`, key, `    ${by}`])
})
