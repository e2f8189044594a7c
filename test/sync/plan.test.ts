// The tables of plan-table.test.ts do not tell these apart: spelling, forms, halves of a phone, refused values.
import { describe, expect, it } from 'vitest'
import { type Fields, OPTIONAL_FIELDS, type Status } from '../../src/model/user.ts'
import { UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import {
  ABSENT,
  brief,
  CLEAR,
  clearing,
  FULL,
  KEEP,
  marks,
  pick,
  plan,
  seen,
  sent,
  UNASKED,
  user,
} from '../support/plan-scene.ts'

it.each<[string, Memory, unknown[]]>([
  ['of a status that the interface does not have', seen(-1), ['revoke', { status: 0 }]],
  ['of a status that is not known', { ...ABSENT, remote: 'present' }, ['revoke', { status: 0 }]],
  ['free, as seen', seen(0, {}, { sentStatus: 2 }), ['none', 'no-access-left']],
  ['entitled by another system', seen(2, {}, { sentStatus: 0 }), ['revoke', { status: 0 }]],
  ['a customer without any call yet', UNASKED, ['lookup', 'unasked']],
])('a customer who is removed whose user is %s', (_what, memory, right) => {
  expect(brief({ mapped: { kind: 'removed', userId: 'u7' }, memory })).toEqual(right)
})

it('customers who are one user are rejected with the keys of all others', () => {
  const right = { kind: 'reject', code: 'shared-user-id', keys: ['8', '9'] }
  expect(plan({ mapped: user(2), memory: sent(2), claimants: ['8', '9'] })).toEqual(right)
})

describe('a user who is not there', () => {
  it('is created with everything that is set and without nulls, asked about before or not', () => {
    const fields = { email: 'a@x.es', last_name: null, description: null, gender: 0, country_code: 'ES' }
    for (const memory of [ABSENT, UNASKED])
      for (const policy of [KEEP, CLEAR, FULL, { ...KEEP, clearWith: clearing('empty') }])
        expect(plan({ mapped: user(4, fields), memory, policy })).toEqual({
          kind: 'create',
          body: { user_id: 'u7', status: 4, email: 'a@x.es', gender: 0, country_code: 'ES' },
          fields: ['email', 'last_name', 'gender', 'description', 'country_code'],
        })
  })

  it('is created without what was refused, until one of the refused values changes', () => {
    const memory = { ...ABSENT, refused: marks({ email: 'bad@x.es', last_name: 'Gil' }) }
    const created = (fields: Fields) => brief({ mapped: user(2, fields), memory })
    const required = { user_id: 'u7', status: 2 }
    const same = { email: 'bad@x.es', last_name: 'Gil', first_name: 'Ana' }
    expect(created(same)).toEqual(['create', { ...required, first_name: 'Ana' }])
    const other = { email: 'good@x.es', last_name: 'Gil' }
    expect(created(other)).toEqual(['create', { ...required, ...other }])
  })
})

describe('a user who is there', () => {
  const known = { email: 'a@x.es', last_name: 'Gil', description: null }

  it.each([
    ['sent', sent(2, known)],
    ['seen', seen(2, { ...known, email: 'A@X.es' })],
    ['sent and seen', { ...sent(2, known), ...pick(seen(2, known)) }],
  ])('is left alone when everything is right, as %s', (_how, memory) => {
    for (const policy of [KEEP, CLEAR, FULL])
      expect(brief({ mapped: user(2, known), memory, policy })).toEqual(['none', 'right'])
  })

  it.each<[string, Status, Fields, unknown]>([
    ['the status', 0, known, { status: 0 }],
    ['the spelling of a field', 2, { ...known, email: 'A@x.es' }, { status: 2, email: 'A@x.es' }],
    ['a field that is newly managed', 2, { ...known, gender: 1 }, { status: 2, gender: 1 }],
    ['a field that is newly managed and empty', 2, { ...known, gender: null }, { status: 2, gender: null }],
  ])('gets a PATCH with the status and nothing but what changed: %s', (_what, status, fields, body) => {
    expect(brief({ mapped: user(status, fields), memory: sent(2, known) })).toEqual(['patch', body])
  })

  it('is patched where a GET disagrees with what was sent', () => {
    const memory = { ...sent(2, known), ...pick(seen(2, { ...known, email: 'other@x.es' })) }
    expect(brief({ mapped: user(2, known), memory })).toEqual(['patch', { status: 2, email: 'a@x.es' }])
  })

  it('is cleared in the way of each field, by a PATCH and by a PUT', () => {
    const policy = { ...KEEP, clearWith: { ...clearing('null'), email: 'empty' } } as const
    const changed = user(2, { ...known, email: null, last_name: null })
    const body = { status: 2, email: '', last_name: null }
    expect(brief({ mapped: changed, memory: sent(2, known), policy })).toEqual(['patch', body])

    const put = { ...CLEAR, clearWith: { ...clearing('omit'), gender: 'empty', email: 'null' } } as const
    const memory = sent(2, { last_name: 'Gil', email: 'x' })
    expect(brief({ mapped: user(2, { last_name: 'Gil' }), memory, policy: put })).toEqual([
      'replace',
      { status: 2, last_name: 'Gil', gender: '', email: null },
    ])
  })
})

describe('country_code', () => {
  it('is never equal: right only where it was acknowledged', () => {
    const mapped = user(2, { country_code: 'ES' })
    expect(brief({ mapped, memory: sent(2, { country_code: 'ES' }) })).toEqual(['none', 'right'])
    for (const memory of [seen(2), sent(2), sent(2, {}, { sent: { country_code: UNKNOWN_VALUE } })])
      expect(brief({ mapped, memory })).toEqual(['patch', { status: 2, country_code: 'ES' }])
  })

  it('that was sent once is cleared where unmanaged fields are', () => {
    const mapped = user(2, { last_name: 'Gil' })
    const memory = sent(2, { last_name: 'Gil', country_code: 'ES' })
    const nothing = Object.fromEntries(OPTIONAL_FIELDS.map((each) => [each, null]))
    expect(brief({ mapped, memory, policy: CLEAR })).toEqual([
      'replace',
      { ...nothing, status: 2, last_name: 'Gil' },
    ])
    expect(brief({ mapped, memory, policy: KEEP })).toEqual(['none', 'right'])
  })
})

it('a phone is sent in both halves when one changes and the other is known from a GET alone', () => {
  const mapped = user(2, { mobile_phone: '600111222', mobile_phone_prefix: '351' })
  const both = { status: 2, mobile_phone: '600111222', mobile_phone_prefix: '351' }
  const old = { mobile_phone: '600111222', mobile_phone_prefix: '34' }
  expect(brief({ mapped, memory: seen(2, old) })).toEqual(['patch', both])
  expect(brief({ mapped, memory: sent(2, old) })).toEqual([
    'patch',
    { status: 2, mobile_phone_prefix: '351' },
  ])
})

describe('refused values', () => {
  const memory = sent(2, { first_name: 'Ana' }, { refused: marks({ email: 'bad', last_name: 'Gil' }) })

  it('are not sent again while all of them are the same', () => {
    const same = { first_name: 'Ana', email: 'bad', last_name: 'Gil' }
    expect(brief({ mapped: user(2, same), memory })).toEqual(['none', 'right'])
    const changed = { ...same, first_name: 'Eva' }
    expect(brief({ mapped: user(2, changed), memory })).toEqual(['patch', { status: 2, first_name: 'Eva' }])
  })

  it.each<[string, Fields]>([
    ['changes', { first_name: 'Ana', email: 'good', last_name: 'Gil' }],
    ['is no longer set by the mapping', { first_name: 'Ana', last_name: 'Gil' }],
  ])('are all tried again when one of them %s', (_what, fields) => {
    const { first_name: _known, ...tried } = fields
    expect(brief({ mapped: user(2, fields), memory })).toEqual(['patch', { status: 2, ...tried }])
  })
})

it.each<[string, Memory]>([
  ['sent as free', sent(0)],
  ['seen as free, without a trial before', seen(0)],
  ['seen as premium', seen(2, {}, { sentStatus: 4 })],
])('a trial is granted to a user who was %s', (_what, memory) => {
  expect(brief({ mapped: user(4), memory })).toEqual(['patch', { status: 4 }])
})
