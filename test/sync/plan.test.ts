import { describe, expect, it } from 'vitest'
import type { Mapped } from '../../src/model/mapped.ts'
import type { Fields, Status } from '../../src/model/user.ts'
import { DOUBTED } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { standingRefusals } from '../../src/sync/right.ts'
import {
  ABSENT,
  brief,
  CLEAR,
  clearing,
  digests,
  FULL,
  GONE,
  KEEP,
  LEFT_OUT,
  marks,
  pick,
  plan,
  seen,
  sent,
  UNASKED,
  UNKNOWN,
  user,
} from '../support/plan-scene.ts'

describe('a customer who is gone or out of scope', () => {
  it.each<[string, Memory, unknown[]]>([
    ['unknown', UNKNOWN, ['lookup', 'unknown']],
    ['absent', ABSENT, ['none', 'no-access-left']],
    ['premium', sent(2, { email: 'a@x.es' }), ['revoke', { status: 0 }]],
    ['on trial', sent(4), ['revoke', { status: 0 }]],
    ['premium, as seen', seen(2), ['revoke', { status: 0 }]],
    ['of a status that the interface does not have', seen(-1), ['revoke', { status: 0 }]],
    ['of a status that nobody knows', { ...ABSENT, remote: 'present' }, ['revoke', { status: 0 }]],
    ['free, as sent', sent(0), ['none', 'no-access-left']],
    ['free, as seen', seen(0, {}, { sentStatus: 2 }), ['none', 'no-access-left']],
    ['entitled by somebody else', seen(2, {}, { sentStatus: 0 }), ['revoke', { status: 0 }]],
  ])('whose user is %s', (_what, memory, right) => {
    for (const mapped of GONE) {
      expect(brief({ mapped, memory })).toEqual(right)
      expect(brief({ mapped, memory, rivals: ['8'] })).toEqual(['none', 'user-of-another-customer'])
      expect(brief({ mapped, memory, policy: { ...KEEP, onRemove: 'ignore' } })).toEqual(['none', 'ignored'])
    }
  })
})

describe('a customer before the first call', () => {
  it('is looked up when it goes, since somebody else may have registered the user', () => {
    expect(brief({ mapped: { kind: 'removed', userId: 'u7' }, memory: UNASKED })).toEqual([
      'lookup',
      'unasked',
    ])
  })

  it('is left alone while it is out of scope', () => {
    const mapped: Mapped = { kind: 'out-of-scope', userId: 'u7' }
    expect(brief({ mapped, memory: UNASKED })).toEqual(['none', 'never-ours'])
  })

  it('is left alone where another customer is the user, or removals are ignored', () => {
    for (const mapped of GONE) {
      const memory = UNASKED
      expect(brief({ mapped, memory, rivals: ['8'] })).toEqual(['none', 'user-of-another-customer'])
      expect(brief({ mapped, memory, policy: { ...KEEP, onRemove: 'ignore' } })).toEqual(['none', 'ignored'])
    }
  })

  it('is created like one who is known to be absent', () => {
    const mapped = user(2, { email: 'a@x.es' })
    expect(plan({ mapped, memory: UNASKED })).toEqual(plan({ mapped, memory: ABSENT }))
  })
})

describe('a customer who cannot be sent', () => {
  it.each([UNKNOWN, UNASKED, ABSENT, sent(2)])('is rejected, whatever is remembered', (memory) => {
    const rejected: Mapped = { kind: 'rejected', userId: 'u7', issues: [LEFT_OUT] }
    expect(plan({ mapped: rejected, memory })).toEqual({ kind: 'reject', code: 'mapping', keys: [] })
    expect(plan({ mapped: user(2), memory, rivals: ['8', '9'] })).toEqual({
      kind: 'reject',
      code: 'shared-user-id',
      keys: ['8', '9'],
    })
  })
})

describe('a user whose remote side is not known', () => {
  it('is looked up before anything is sent', () => {
    for (const policy of [KEEP, CLEAR, FULL])
      expect(brief({ mapped: user(2, { email: 'a@x.es' }), memory: UNKNOWN, policy })).toEqual([
        'lookup',
        'unknown',
      ])
  })
})

describe('a user who is not there', () => {
  it('is created with everything that is set and without nulls', () => {
    const fields = { email: 'a@x.es', last_name: null, description: null, gender: 0, country_code: 'ES' }
    for (const policy of [KEEP, CLEAR, FULL, { ...KEEP, clearWith: clearing('empty') }]) {
      const made = plan({ mapped: user(4, fields), memory: ABSENT, policy })
      expect(made).toEqual({
        kind: 'create',
        body: { user_id: 'u7', status: 4, email: 'a@x.es', gender: 0, country_code: 'ES' },
        fields: ['email', 'last_name', 'gender', 'description', 'country_code'],
      })
    }
  })

  it('is created without what was refused, until one of the refused values changes', () => {
    const memory = { ...ABSENT, refused: marks({ email: 'bad@x.es', last_name: 'Gil' }) }
    const same = user(2, { email: 'bad@x.es', last_name: 'Gil', first_name: 'Ana' })
    expect(brief({ mapped: same, memory })).toEqual([
      'create',
      { user_id: 'u7', status: 2, first_name: 'Ana' },
    ])
    const other = user(2, { email: 'good@x.es', last_name: 'Gil' })
    expect(brief({ mapped: other, memory })[1]).toEqual({
      user_id: 'u7',
      status: 2,
      email: 'good@x.es',
      last_name: 'Gil',
    })
  })
})

describe('a user who is there', () => {
  const known = { email: 'a@x.es', last_name: 'Gil', description: null }

  it.each([
    ['sent', sent(2, known)],
    ['seen', seen(2, known)],
    ['sent and seen', { ...sent(2, known), ...pick(seen(2, known)) }],
  ])('is left alone when everything is right, as %s', (_how, memory) => {
    for (const policy of [KEEP, CLEAR, FULL])
      expect(brief({ mapped: user(2, known), memory, policy })).toEqual(['none', 'right'])
  })

  it.each<[string, Status, Fields, unknown]>([
    ['the status', 0, known, { status: 0 }],
    ['a field', 2, { ...known, email: 'b@x.es' }, { status: 2, email: 'b@x.es' }],
    ['the spelling of a field', 2, { ...known, email: 'A@x.es' }, { status: 2, email: 'A@x.es' }],
    ['a field that is cleared', 2, { ...known, email: null }, { status: 2, email: null }],
    ['a field that is newly managed', 2, { ...known, gender: 1 }, { status: 2, gender: 1 }],
    ['a field that is newly managed and empty', 2, { ...known, gender: null }, { status: 2, gender: null }],
  ])('gets a PATCH with the status and nothing but what changed: %s', (_what, status, fields, body) => {
    expect(brief({ mapped: user(status, fields), memory: sent(2, known) })).toEqual(['patch', body])
  })

  it('is compared in normal form with what a GET showed', () => {
    const memory = seen(2, { email: 'a@x.es', nid_number: '12345678Z' })
    const same = user(2, { email: 'A@X.es', nid_number: '12345678Z' })
    expect(brief({ mapped: same, memory })).toEqual(['none', 'right'])
  })

  it('is patched where a GET disagrees with what was sent', () => {
    const memory = { ...sent(2, known), seen: marks({}), ...pick(seen(2, { ...known, email: 'other@x.es' })) }
    expect(brief({ mapped: user(2, known), memory })).toEqual(['patch', { status: 2, email: 'a@x.es' }])
  })

  it('gets an empty text where the configuration clears with one', () => {
    const policy = { ...KEEP, clearWith: { ...clearing('null'), email: 'empty' } } as const
    const changed = user(2, { ...known, email: null, last_name: null })
    const body = { status: 2, email: '', last_name: null }
    expect(brief({ mapped: changed, memory: sent(2, known), policy })).toEqual(['patch', body])
  })

  it('gets all managed fields in a PATCH where everything changed, so that what others set survives', () => {
    const fields = { email: 'b@x.es', last_name: 'Soto', description: null }
    const memory = sent(2, { email: 'a@x.es', last_name: 'Gil', description: 'x' })
    expect(brief({ mapped: user(2, fields), memory })).toEqual(['patch', { status: 2, ...fields }])
  })
})

describe('country_code', () => {
  it('is never equal: right only where it was acknowledged', () => {
    const mapped = user(2, { country_code: 'ES' })
    expect(brief({ mapped, memory: sent(2, { country_code: 'ES' }) })).toEqual(['none', 'right'])
    for (const memory of [seen(2), sent(2), sent(2, {}, { sent: { country_code: DOUBTED } })])
      expect(brief({ mapped, memory })).toEqual(['patch', { status: 2, country_code: 'ES' }])
  })
})

describe('a phone', () => {
  it('is sent in both halves when one changes and the other is known from a GET alone', () => {
    const mapped = user(2, { mobile_phone: '600111222', mobile_phone_prefix: '351' })
    const both = { status: 2, mobile_phone: '600111222', mobile_phone_prefix: '351' }
    const old = { mobile_phone: '600111222', mobile_phone_prefix: '34' }
    expect(brief({ mapped, memory: seen(2, old) })).toEqual(['patch', both])
    expect(brief({ mapped, memory: sent(2, old) })).toEqual([
      'patch',
      { status: 2, mobile_phone_prefix: '351' },
    ])
  })
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

  it('stand for as long as every one of them does', () => {
    const fields = { email: 'bad', last_name: 'Gil' }
    const desired = (given: Fields) => ({ userId: 'u7', status: 2 as const, fields: given })
    expect([...standingRefusals(desired(fields), memory, digests)]).toEqual(['email', 'last_name'])
    expect([...standingRefusals(desired({ ...fields, email: null }), memory, digests)]).toEqual([])
    expect([...standingRefusals(desired(fields), { refused: {} }, digests)]).toEqual([])
  })
})
