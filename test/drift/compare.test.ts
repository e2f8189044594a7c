// The comparison against the plan: what is called drift is what a sync that has seen the same would write, no more and
// no less.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare, shownOf } from '../../src/drift/compare.ts'
import { reasonToSkip } from '../../src/drift/get-users.ts'
import { heldAccess } from '../../src/drift/held-access.ts'
import { type DriftVerdict, isDrift } from '../../src/drift/words.ts'
import { NO_RECORD } from '../../src/ledger/record.ts'
import type { Work } from '../../src/ledger/sweep-work.ts'
import type { Fields, OptionalField, Status } from '../../src/model/user.ts'
import type { RemoteUser } from '../../src/service/body.ts'
import type { Mapped } from '../../src/sync/map.ts'
import { makePlan } from '../../src/sync/plan.ts'
import { planAfter, type Snapshot } from '../../src/sync/snapshot.ts'
import type { Policy } from '../../src/sync/write.ts'
import { CLEAR, digests, KEEP, marks, user } from '../support/plan-scene.ts'
import { runs } from '../support/size.ts'

const WORK: Work = {
  ...{ key: '7', known: true, owed: false, claimed: false, unknown: false, hiddenUnknown: false },
  ...{ statusUnknown: false, replanAtMs: null, id: '1', version: '3', unverified: false, generation: '1' },
  record: { ...NO_RECORD, userId: 'u7', isNew: false, digestKeyId: digests.keyId, verifiedAgoMs: 9000 },
}

function subject(
  mapped: Mapped,
  record: Partial<Work['record']> = {},
  rest: Partial<Snapshot> = {},
): Snapshot {
  return {
    ...{ key: '7', mapped, unreadable: null, sameUser: [], claimants: [], policy: KEEP, digests },
    ...{ desiredDigest: 'as it was', nowMs: 1000 },
    work: { ...WORK, record: { ...WORK.record, ...record } },
    ...rest,
  }
}

const remote = (status: number, fields: Fields = {}): RemoteUser => ({ userId: 'u7', status, fields })
const FACTS = { unclear: [], generation: '1' }

const values = (field: OptionalField) =>
  field === 'mobile_phone_prefix'
    ? ['34', '+34', '351', null]
    : ['600111222', '600 111 222', '34600111222', 'x', null]

const fieldsOf = (fields: readonly OptionalField[]): fc.Arbitrary<Fields> =>
  fc.record(Object.fromEntries(fields.map((field) => [field, fc.constantFrom(...values(field))])), {
    requiredKeys: [],
  }) as fc.Arbitrary<Fields>

const SOME: readonly OptionalField[] = [
  'email',
  'first_name',
  'mobile_phone',
  'mobile_phone_prefix',
  'country_code',
]
const status = fc.constantFrom<Status>(0, 2, 4)

test('a user of ours differs just where a sync that has seen it would write', () => {
  const given = fc.record({
    desired: fieldsOf(SOME),
    was: fieldsOf(SOME),
    shown: fieldsOf(SOME.filter((field) => field !== 'country_code')),
    statuses: fc.tuple(status, fc.constantFrom<number | null>(0, 2, 4, null), status),
    policy: fc.constantFrom<Policy>(KEEP, CLEAR),
  })
  const run = fc.property(given, ({ desired, was, shown, statuses: [here, sentStatus, there], policy }) => {
    const mapped = user(here, desired)
    // No GET shows whether an undesired country exists.
    const { country_code: _country, ...visible } = was
    const once = desired.country_code === undefined ? visible : was
    const asked = subject(mapped, { remote: 'present', sentStatus, sent: marks(once) }, { policy })
    const verdict = compare(asked, remote(there, shown), FACTS)
    const memory = planAfter(asked, remote(there, shown)).memory
    const plan = makePlan({ mapped, memory, claimants: [], policy, digests })
    // No GET shows the country, so that a sync may have that alone to write.
    const hidden = 'fields' in plan && plan.fields.every((field) => field === 'country_code')
    const status = 'body' in plan && 'status' in plan.body && plan.body.status !== there
    const writes = plan.kind !== 'none' && !(plan.kind === 'patch' && hidden && !status)
    const differs = verdict.kind === 'differs'
    expect({ desired, shown, here, there, sentStatus, writes, plan: plan.kind }).toEqual({
      ...{ desired, shown, here, there, sentStatus, plan: plan.kind },
      writes: differs,
    })
  })
  fc.assert(run, { numRuns: runs(3000), seed: 7 })
})

test('an absent user is missing just where a sync that has seen that would register it', () => {
  const given = fc.record({
    ...{ here: status, fields: fieldsOf(SOME), createWithoutAccess: fc.boolean() },
    mapped: fc.constantFrom<Mapped['kind']>('user', 'removed', 'out-of-scope'),
    sentStatus: fc.constantFrom<number | null>(0, 2, 4, null),
    remote: fc.constantFrom('present', 'absent'),
  })
  const run = fc.property(given, ({ here, fields, createWithoutAccess, mapped: kind, ...record }) => {
    const mapped = kind === 'user' ? user(here, fields) : ({ kind, userId: 'u7' } as Mapped)
    const policy = { ...KEEP, createWithoutAccess }
    const asked = subject(mapped, record as Partial<Work['record']>, { policy })
    const memory = planAfter(asked, 'absent').memory
    const plan = makePlan({ mapped, memory, claimants: [], policy, digests })
    const { kind: said } = compare(asked, 'absent', FACTS)
    expect({ plan: plan.kind, said }).toEqual({
      plan: plan.kind,
      said: plan.kind === 'none' ? 'agrees' : 'missing',
    })
  })
  fc.assert(run, { numRuns: runs(1000), seed: 7 })
})

const GONE: Mapped = { kind: 'removed', userId: 'u7' }

describe('of a customer that is held', () => {
  test.each<[string | null, Mapped, Partial<Work['record']>, Partial<Snapshot>?]>([
    ['undue', GONE, { remote: 'present', sentStatus: 2 }],
    ['lost', user(2), { remote: 'present', sentStatus: 0 }],
    [null, GONE, { remote: 'unknown', sentStatus: 2 }],
    [null, GONE, { remote: 'present', sentStatus: 2 }, { claimants: ['8'] }],
    [null, GONE, { remote: 'present', sentStatus: 2 }, { policy: { ...KEEP, onRemove: 'ignore' } }],
  ])('access is %s: %j, remembered %j', (access, mapped, record, rest = {}) => {
    // The note of the time of the hold counts only if the desired state cannot be known without a call.
    const asked = subject(
      mapped,
      { reason: { code: 'held', kinds: ['revocation'] }, ...record, state: 'held' },
      rest,
    )
    expect(reasonToSkip(asked, { consistencyDelayMs: 0 })).toBe('held')
    expect(heldAccess(asked)).toBe(access)
  })
})

test('of a customer whose repair waits access is what checks have shown, whatever is remembered', () => {
  const held = (reason: object) =>
    heldAccess(
      subject(user(2), {
        ...{ remote: 'present', sentStatus: 2, state: 'held' },
        reason: { code: 'held', kinds: ['repair'], ...reason },
      }),
    )
  expect([held({ entitles: true }), held({ entitles: false }), held({})]).toEqual(['lost', 'undue', null])
})

const ELSEWHERE: Mapped = { kind: 'out-of-scope', userId: 'u7' }

describe('a check', () => {
  test.each([
    ['differs', 'lost', user(2), remote(0)],
    ['missing', 'lost', user(2), 'absent'],
    ['differs', 'lost', user(2, { email: 'a@x.es' }), remote(0, { email: 'b@x.es' })],
    ['differs', 'undue', user(0), remote(2)],
    ['unexpected-access', 'undue', GONE, remote(2)],
    ['unexpected-access', 'undue', ELSEWHERE, remote(4)],
    // Both have some, or neither; a status that the interface does not have gives an unknown access.
    ['differs', null, user(2), remote(4)],
    ['missing', null, user(0), 'absent'],
    ['differs', null, user(2), remote(7)],
    ['differs', null, user(2, { email: 'a@x.es' }), remote(2, { email: 'b@x.es' })],
    ['unreadable', null, user(2), 'unreadable'],
    ['agrees', undefined, GONE, 'absent'],
    ['agrees', undefined, GONE, remote(0)],
    ['agrees', undefined, user(2, { country_code: 'ES' }), remote(2)],
  ] as const)('is %s, access %s: %j here, %j there', (kind, access, mapped, remote) => {
    const sentStatus = mapped.kind === 'user' ? mapped.user.status : 0
    const asked = subject(mapped, { remote: 'present', sentStatus: sentStatus === 4 ? null : sentStatus })
    const compared = compare(asked, remote, FACTS)
    expect([compared.kind, isDrift(compared) ? compared.access : undefined]).toEqual([kind, access])
  })

  test('of a trial that ended says that access is neither lost nor edited, whatever else differs', () => {
    const trial = (fields: Fields) => subject(user(4, fields), { remote: 'present', sentStatus: 4 })
    expect(compare(trial({}), remote(0), FACTS)).toEqual({
      ...{ kind: 'trial-ended', fields: ['status'], cause: null, access: null },
    })
    expect(compare(trial({ email: 'a@x.es' }), remote(0, { email: 'b@x.es' }), FACTS)).toMatchObject({
      ...{ kind: 'differs', fields: ['email'], access: null },
    })
    // A trial that the service was never seen to take has not ended.
    const given = subject(user(4), { remote: 'present', sentStatus: 2 })
    expect(compare(given, remote(0), FACTS)).toMatchObject({ kind: 'differs', access: 'lost' })
  })

  test('a value that the service refused is no drift, nor an unmanaged field that has to wait for another field', () => {
    const refused = subject(user(2, { email: 'a@x.es' }), {
      remote: 'present',
      sentStatus: 2,
      refused: marks({ email: 'a@x.es' }),
    })
    expect(compare(refused, remote(2, { email: 'b@x.es' }), FACTS).kind).toBe('agrees')
    const values = { email: digests.normal('email', 'a@x.es') }
    const taken = subject(user(2, { email: 'a@x.es' }), {
      ...{ remote: 'present', sentStatus: 2, sent: marks({ email: 'b@x.es' }) },
      conflict: { values, tries: 1 },
    })
    const waiting = { ...taken, work: { ...taken.work, replanAtMs: taken.nowMs + 1000 } }
    expect(compare(waiting, remote(2, { email: 'b@x.es' }), FACTS).kind).toBe('agrees')
    const issue = { field: 'email', code: 'invalid', expected: 'an e-mail address' } as const
    const shown = remote(2, { description: 'theirs' })
    for (const [issues, kind] of [
      [[], 'differs'],
      [[issue], 'agrees'],
    ] as const) {
      const asked = subject(user(2, {}, issues), { remote: 'present', sentStatus: 2 }, { policy: CLEAR })
      expect(compare(asked, shown, FACTS).kind).toBe(kind)
    }
  })

  test('personal fields of a customer that was erased that are there again', () => {
    const policy = { ...KEEP, onRemove: 'erase' } as const
    const asked = subject(GONE, { remote: 'present', sentStatus: 0, erased: 'sent' }, { policy })
    expect(compare(asked, remote(0, { email: 'a@x.es' }), FACTS)).toEqual({
      ...{ kind: 'differs', fields: ['email'], cause: 'edited-at-service', access: null },
    })
    expect(compare(asked, remote(0), FACTS).kind).toBe('agrees')
    expect(compare(asked, remote(2), FACTS).kind).toBe('unexpected-access')
  })
})

describe('the cause', () => {
  const EMAIL = user(2, { email: 'a@x.es' })
  const SENT = { remote: 'present', sentStatus: 2, sent: marks({ email: 'a@x.es' }) } as const
  const OTHER = remote(2, { email: 'b@x.es' })
  type Case = {
    readonly mapped?: Mapped
    readonly record?: Partial<Work['record']>
    readonly work?: Partial<Work>
    readonly remote?: RemoteUser | 'absent' | 'unreadable'
    readonly unclear?: readonly string[]
    readonly generation?: string
  }
  const stale = { ...SENT, sent: marks({ email: 'c@x.es' }) }
  const noAccess = remote(0, { email: 'a@x.es' })
  const refused: Case['record'] = { ...SENT, remote: 'unknown', reason: { code: 'refused' } }
  const notThere: Case['record'] = { ...refused, reason: { code: 'not-there-yet', status: 404 } }
  test.each<readonly [string | null, string, Case]>([
    [null, 'an answer without the user', { remote: 'unreadable', unclear: ['email'] }],
    ['edited-at-service', 'acknowledged, and changed since', {}],
    ['never-delivered', 'another value was sent last', { record: stale }],
    ['never-delivered', 'digests of another key', { record: { ...SENT, digestKeyId: 'another' } }],
    [
      'mapping-changed',
      'another mapping',
      { record: { ...stale, desiredDigest: 'another' }, generation: '2' },
    ],
    ['unknown-outcome', 'a call that may have changed it', { unclear: ['email'] }],
    ['edited-at-service', 'a unclear call carried another field', { unclear: ['first_name'] }],
    ['unknown-outcome', 'the checks after an unknown outcome are not over', { work: { unverified: true } }],
    ['unknown-outcome', 'a crash hides what was sent', { work: { hiddenUnknown: true } }],
    ['unknown-outcome', 'the status is unknown', { work: { statusUnknown: true }, remote: noAccess }],
    ['never-delivered', 'one of two fields', { mapped: user(2, { email: 'a@x.es', first_name: 'Ana' }) }],
    ['edited-at-service', 'gone at the service', { remote: 'absent' }],
    [
      'edited-at-service',
      'gone, and an update has an unknown outcome',
      { remote: 'absent', unclear: ['email'] },
    ],
    [
      'edited-at-service',
      'gone, and the last update got a clear 404',
      { record: notThere, remote: 'absent' },
    ],
    ['never-delivered', 'gone, and the last call was refused', { record: refused, remote: 'absent' }],
    [
      'unknown-outcome',
      'refused before a crash',
      { record: refused, work: { hiddenUnknown: true }, remote: 'absent' },
    ],
    ['never-delivered', 'never asked about', { record: { remote: 'unasked' }, remote: 'absent' }],
    ['edited-at-service', 'access came back', { mapped: GONE, record: { remote: 'present', sentStatus: 0 } }],
  ])(
    'is %s: %s',
    (cause, _, { mapped = EMAIL, record = SENT, work, remote = OTHER, unclear = [], ...rest }) => {
      const made = subject(mapped, record)
      const asked = { ...made, work: { ...made.work, ...work } }
      expect(compare(asked, remote, { unclear, generation: '1', ...rest })).toMatchObject({ cause })
    },
  )

  test('of a field that is to be empty: it was, or it never was', () => {
    const shown = remote(2, { description: 'theirs' })
    const causeOf = (record: Partial<Work['record']>) =>
      compare(subject(user(2), { ...SENT, sent: {}, ...record }, { policy: CLEAR }), shown, FACTS)
    expect(causeOf({})).toMatchObject({ cause: 'edited-at-service' })
    expect(causeOf({ verifiedAgoMs: null })).toMatchObject({ cause: 'never-delivered' })
    expect(causeOf({ seen: { description: digests.normal('description', 'theirs') } })).toMatchObject({
      cause: 'never-delivered',
    })
  })
})

test('a form that came back once more counts when a claim has seen it, not when a check has', () => {
  const exact = digests.exact('email', 'A@x.es')
  const form = digests.normal('email', 'b@x.es')
  const once = subject(user(2, { email: 'A@x.es' }), {
    ...{ remote: 'present', sentStatus: 2, sent: marks({ email: 'A@x.es' }) },
    observedForms: { email: [exact, form, 1] },
  })
  expect(compare(once, remote(2, { email: 'b@x.es' }), FACTS)).toMatchObject({ kind: 'differs' })
  const record = { ...once.work.record, observedForms: { email: [exact, form, 2] as const } }
  const twice = { ...once, work: { ...once.work, record } }
  expect(compare(twice, remote(2, { email: 'b@x.es' }), FACTS).kind).toBe('agrees')
})

describe('who is not checked', () => {
  const PRESENT = { remote: 'present', sentStatus: 2 } as const
  const work = (rest: Partial<Work>): Work => ({
    ...WORK,
    ...rest,
    record: { ...WORK.record, ...PRESENT, ...rest.record },
  })
  const CASES: readonly (readonly [string | null, Partial<Snapshot>])[] = [
    [null, {}],
    ['owed', { work: work({ owed: true }) }],
    ['owed', { work: work({ unknown: true }) }],
    ['owed', { work: work({ replanAtMs: 1000 }) }],
    [null, { work: work({ replanAtMs: 1001 }) }],
    ['owed', { work: work({ record: { ...WORK.record, state: 'failing' } }) }],
    ['held', { work: work({ record: { ...WORK.record, state: 'held' } }) }],
    ['just-written', { work: work({ record: { ...WORK.record, writtenAgoMs: 499 } }) }],
    ['just-written', { work: work({ record: { ...WORK.record, writtenAgoMs: -3 } }) }],
    [null, { work: work({ record: { ...WORK.record, writtenAgoMs: -9999 } }) }],
    [null, { work: work({ record: { ...WORK.record, writtenAgoMs: 500 } }) }],
    ['rejected', { mapped: { kind: 'rejected', userId: 'u7', issues: [] } }],
    ['rejected', { claimants: ['8'] }],
    ['not-ours', { mapped: ELSEWHERE, work: WORK }],
    ['not-ours', { mapped: GONE, claimants: ['8'] }],
    [null, { mapped: GONE }],
  ]
  test.each(CASES)('%s: %j', (why, rest) => {
    expect(reasonToSkip(subject(user(2), PRESENT, rest), { consistencyDelayMs: 500 })).toBe(why)
  })
})

const THERE = { userId: 'u7', status: 2, fields: { email: 'eva@example.es', first_name: 'Eva' } }
const drift = (given: Pick<DriftVerdict, 'kind'> & Partial<DriftVerdict>): DriftVerdict => ({
  ...{ fields: [], cause: 'edited-at-service', access: null },
  ...given,
})
test.each([GONE, ELSEWHERE])(
  'a customer that is let in and is $kind here is shown with the status, and no field besides',
  (mapped) => {
    const shown = shownOf({ mapped }, THERE, drift({ kind: 'unexpected-access' }))
    expect(shown).toEqual([{ field: 'status', here: null, service: 2 }])
  },
)

test('of the others just the fields that differ are shown, and of an absent user nothing', () => {
  const here = { mapped: user(4, { email: 'ana@example.es', first_name: 'Eva' }) }
  expect(shownOf(here, THERE, drift({ kind: 'differs', fields: ['email'] }))).toEqual([
    { field: 'email', here: 'ana@example.es', service: 'eva@example.es' },
  ])
  const ended = drift({ kind: 'trial-ended', fields: ['status'] })
  expect(shownOf(here, { ...THERE, status: 0 }, ended)).toEqual([{ field: 'status', here: 4, service: 0 }])
  expect(shownOf(here, 'absent', drift({ kind: 'missing' }))).toEqual([])
})
