import { expect, test } from 'vitest'
import { readFailuresAsked } from '../../src/cli/failures.ts'
import { adviseGroups, renderGroups } from '../../src/cli/render-failures.ts'
import { isReasonCode, renderIssue, renderReason, together } from '../../src/cli/render-reason.ts'
import type { ReasonGroup } from '../../src/ledger/failures.ts'
import { REASON_CODES } from '../../src/ledger/reason.ts'
import { CALL_ERROR_KINDS } from '../../src/service/errors.ts'

const TOO_BARE = /undefined|null|NaN|\[object|: $|\(\)/

test('every reason has words and something to do, with whatever it comes', () => {
  const details = [
    {},
    { fields: [] },
    { status: 422, fields: ['email', 'nid_number'], named: ['nid_number'] },
    ...[400, 401, 403, 404, 409, 413, 429, 500, 503].map((status) => ({ status })),
    ...[...CALL_ERROR_KINDS, '42501', 'new-kind'].map((error) => ({ error })),
    { keys: ['7', '8'] },
  ]
  for (const code of [...REASON_CODES, 'of-another-version', 'constructor']) {
    for (const detail of details) {
      for (const state of ['rejected', 'failing'] as const) {
        for (const customers of [1, 20]) {
          const { what, toDo } = renderReason({ code, ...detail }, { state, customers })
          expect(`${what}; ${toDo}`).not.toMatch(TOO_BARE)
          expect([what.length > 8, toDo.length > 8], code).toEqual([true, true])
        }
      }
    }
  }
  expect([isReasonCode('refused'), isReasonCode('constructor')]).toEqual([true, false])
  expect(renderReason({ code: 'of-another-version', status: 400 }).what).toMatch(
    /"of-another-version" \(HTTP 400\)/,
  )
})

test('a call asks for one thing, and one that does not names what to call', () => {
  const none = { retry: false, keys: [], selector: null, limit: 100 }
  const email = { kind: 'issue', field: 'email', code: null }
  const reason = (code: string, detail: string | null) => ({ kind: 'reason', code, detail })
  const asks: [Parameters<typeof readFailuresAsked>, object][] = [
    [[[], {}], none],
    [[['1'], {}], { ...none, keys: ['1'] }],
    [[['1'], { retry: true }], { ...none, keys: ['1'], retry: true }],
    [[[], { retry: true, all: true }], { ...none, retry: true, selector: { kind: 'all' } }],
    [[[], { reason: 'issue:email' }], { ...none, selector: email }],
    [[[], { reason: 'issue:email:refused' }], { ...none, selector: { ...email, code: 'refused' } }],
    [[[], { reason: 'refused:422', limit: 5 }], { ...none, selector: reason('refused', '422'), limit: 5 }],
    [[[], { retry: true, reason: 'denied' }], { ...none, retry: true, selector: reason('denied', null) }],
  ]
  for (const [call, asked] of asks) expect(readFailuresAsked(...call)).toEqual(asked)

  const mistakes: [Parameters<typeof readFailuresAsked>, string][] = [
    [[[], { retry: true }], 'customer keys'],
    [[[], { all: true }], '--retry'],
    [[['1'], { retry: true, all: true }], 'exclude'],
    [[['1'], { reason: 'denied' }], 'exclude'],
    [[[], { limit: 5 }], '--reason'],
    [[[], { retry: true, reason: 'denied', limit: 5 }], '--limit'],
    [[[], { reason: '' }], 'lists'],
    [[[], { reason: 'denied:' }], 'lists'],
    [[[], { reason: 'issue:e-mail' }], 'did you mean email'],
    [[[], { reason: 'issue:email:refuse' }], 'did you mean refused'],
  ]
  for (const [call, words] of mistakes) {
    const reported = () => readFailuresAsked(...call)
    expect(reported, JSON.stringify(call)).toThrow(
      expect.objectContaining({ code: 'USAGE', details: [expect.stringContaining(words)] }),
    )
  }
})

const WAITING = {
  ...{ since: '2026-11-20T10:00:00.000Z', sinceMs: 86_400_000 * 3, nextInMs: null, underWay: false },
}
const GROUP: ReasonGroup = {
  ...{ state: 'rejected', code: 'shared-user-id', status: null, error: null, customers: 3 },
  ...{ example: '4711', fields: null, named: null },
  keys: Array.from({ length: 30 }, (_, index) => `customer-${index}`),
  misfits: null,
  ...WAITING,
}

test('the reasons fit eighty columns, and what a terminal would obey is not let through', () => {
  const customers = { rejected: 3, failing: 1, leftOut: 1 }
  const failing = { ...GROUP, state: 'failing', code: 'unknown', error: 'timeout', nextInMs: 90_000 } as const
  const issue = {
    field: 'email',
    code: 'invalid',
    expected: 'an e-mail',
    blocks: false,
    customers: 1,
  } as const
  const origin = 'https://service.example.com'
  const reasons = [GROUP, { ...failing, customers: 1, example: 'red\u001b[31m' }]
  const found = { origin, customers, reasons, issues: [{ ...WAITING, ...issue, example: '9' }] }
  const lines = renderGroups(adviseGroups(found, { origin, environment: 'demo', local: false }))
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  const text = lines.join('\n')
  expect(text).not.toContain('\u001b')
  for (const words of [
    'customers at https://service.example.com (demo)',
    'rejected: 3 customers, reason shared-user-id',
    '3 days (the longest)',
    'failing: 1 customer, reason unknown:timeout',
    'next      an attempt in 90 s',
    'left out: 1 customer, reason issue:email:invalid',
    'total (each customer once): 3 rejected, 1 failing, 1 with a field left out',
  ]) {
    expect(text).toContain(words)
  }
})

test('a rejection by the mapping names its fields, since when, and each word that --reason takes', () => {
  const customers = { rejected: 1, failing: 0, leftOut: 0 }
  const issue = { field: 'status', code: 'missing', expected: '0 to 4', blocks: true, customers: 1 } as const
  const reasons = [{ ...GROUP, code: 'mapping', customers: 1 }]
  const found = { origin: null, customers, reasons, issues: [{ ...WAITING, ...issue, example: '9' }] }
  const text = renderGroups(adviseGroups(found, null)).join('\n')
  expect(text).toMatch(
    /^rejected: 1 customer, reason mapping \(detail: issue:status:missing\)\n +why +the field status is empty.*\n +for +3 days\n +next +an attempt when/m,
  )
  expect(text).toContain('total (each customer once): 1 rejected\n')
})

test('a reason without the names that its customers do not share is a whole sentence', () => {
  expect(renderReason({ code: 'unwatched', misfits: null }, { customers: 2 }).what).toMatch(
    /takes no access away$/,
  )
})

test('refusals that name no field are one issue of one customer, never of two that only count alike', () => {
  const refused = (field: string, example: string, customers = 1) => ({
    ...{ field, code: 'refused', example, customers },
  })
  const fieldsOf = (...issues: ReturnType<typeof refused>[]) => together(issues).map(({ fields }) => fields)
  expect(fieldsOf(refused('email', '7'), refused('gender', '7'))).toEqual([['email', 'gender']])
  expect(fieldsOf(refused('email', '7'), refused('gender', '8'))).toEqual([['email'], ['gender']])
  expect(fieldsOf(refused('email', '7', 2), refused('gender', '7', 2))).toEqual([['email'], ['gender']])
  const why = (customers: number) =>
    renderIssue({ field: 'email', code: 'refused', expected: 'x', blocks: false, customers }).what
  expect(why(1)).toMatch(/value of email$/)
  expect(why(2)).toMatch(/value of email, or of a field sent with it$/)
})
