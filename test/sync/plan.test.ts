import { describe, expect, it } from 'vitest'
import type { Mapped } from '../../src/model/mapped.ts'
import { type Fields, OPTIONAL_FIELDS, type Status } from '../../src/model/user.ts'
import { DOUBTED, forCustomer, makeDigester } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { makePlan, type Plan, type Policy, takesAccess } from '../../src/sync/plan.ts'
import { standingRefusals, statusIsRight } from '../../src/sync/right.ts'

const digests = forCustomer(makeDigester('a digest key of thirty-two chars!'), '7')

const KEEP: Policy = {
  unmanaged: 'keep',
  clearWith: clearing('null'),
  onRemove: 'revoke',
  fullyManaged: false,
}
const CLEAR: Policy = { ...KEEP, unmanaged: 'clear' }
const FULL: Policy = { ...KEEP, fullyManaged: true }

function clearing(how: 'null' | 'empty' | 'omit'): Policy['clearWith'] {
  return Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, how])) as Policy['clearWith']
}

function user(
  status: Status,
  fields: Fields = {},
  issues: Extract<Mapped, { kind: 'user' }>['issues'] = [],
): Mapped {
  return { kind: 'user', user: { userId: 'u7', status, fields }, issues }
}

const LEFT_OUT = { field: 'email', code: 'invalid', expected: 'an e-mail address' } as const

const ABSENT: Memory = {
  remote: 'absent',
  sentStatus: null,
  seenStatus: null,
  sent: {},
  seen: {},
  refused: {},
  looked: false,
}
const UNKNOWN: Memory = { ...ABSENT, remote: 'unknown' }
const UNASKED: Memory = { ...ABSENT, remote: 'unasked' }

/** Known by what was acknowledged. */
function sent(status: Status, fields: Fields = {}, rest: Partial<Memory> = {}): Memory {
  return { ...ABSENT, remote: 'present', sentStatus: status, sent: marks(fields), ...rest }
}

/** Known by what a GET showed. */
function seen(status: number, fields: Fields = {}, rest: Partial<Memory> = {}): Memory {
  const forms = OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined).map((field) => [
    field,
    digests.normal(field, fields[field] ?? null),
  ])
  return {
    ...ABSENT,
    remote: 'present',
    seenStatus: status,
    seen: Object.fromEntries(forms),
    looked: true,
    ...rest,
  }
}

function marks(fields: Fields): Memory['sent'] {
  return Object.fromEntries(
    OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined).map((field) => [
      field,
      digests.exact(field, fields[field] ?? null),
    ]),
  )
}

type Given = {
  readonly mapped: Mapped
  readonly memory: Memory
  readonly policy?: Policy
  readonly rivals?: readonly string[]
}

function plan({ mapped, memory, policy = KEEP, rivals = [] }: Given): Plan {
  return makePlan({ mapped, memory, policy, rivals, digests })
}

/** Kind and body, or kind and reason. */
function brief(given: Given): unknown[] {
  const made = plan(given)
  return 'body' in made ? [made.kind, made.body] : [made.kind, 'why' in made ? made.why : made.code]
}

const GONE: readonly Mapped[] = [
  { kind: 'removed', userId: 'u7' },
  { kind: 'out-of-scope', userId: 'u7' },
]

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

describe('a customer whom nobody was ever asked about', () => {
  it.each([
    ['removed', 'lookup', 'unasked'],
    ['out-of-scope', 'none', 'never-ours'],
  ] as const)('%s: %s', (kind, plan_, why) => {
    const unasked = { ...ABSENT, remote: 'unasked' } as const
    expect(plan({ mapped: { kind, userId: 'u' }, memory: unasked })).toEqual({ kind: plan_, why })
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

function pick({ seenStatus, seen: forms }: Memory): Partial<Memory> {
  return { seenStatus, seen: forms }
}

describe('a PUT', () => {
  const every: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `${field} 1`]))
  const other: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `${field} 2`]))

  it('carries the complete set when every field is managed and every one has changed', () => {
    const made = plan({ mapped: user(2, every), memory: sent(2, other), policy: FULL })
    expect(made).toMatchObject({ kind: 'replace', body: { status: 2, ...every }, fields: OPTIONAL_FIELDS })
  })

  it('is not used for a part of the fields', () => {
    const memory = sent(2, { ...every, email: 'x' })
    expect(brief({ mapped: user(2, every), memory, policy: FULL })).toEqual([
      'patch',
      { status: 2, email: 'email 1' },
    ])
  })

  it('clears a field by leaving it out, where the configuration says so', () => {
    const policy = { ...FULL, clearWith: { ...clearing('null'), email: 'omit' } } as const
    const fields = { ...every, email: null, last_name: null }
    const { email: _email, ...body } = fields
    const made = plan({ mapped: user(2, fields), memory: sent(2, every), policy })
    expect(made).toMatchObject({ kind: 'replace', fields: OPTIONAL_FIELDS })
    expect('body' in made && made.body).toEqual({ status: 2, ...body })
  })

  it.each(['email', 'country_code'] as const)(
    'clears what others set (%s), where unmanaged fields are cleared',
    (field) => {
      const stray = seen(2, { last_name: 'Gil', [field]: 'x' }, { sent: marks({ last_name: 'Gil' }) })
      const mapped = user(2, { last_name: 'Gil' })
      const nothing = Object.fromEntries(OPTIONAL_FIELDS.map((each) => [each, null]))
      const once = sent(2, { last_name: 'Gil', [field]: 'x' })
      for (const memory of [stray, once]) {
        expect(brief({ mapped, memory, policy: CLEAR })).toEqual([
          'replace',
          { ...nothing, status: 2, last_name: 'Gil' },
        ])
        expect(brief({ mapped, memory, policy: KEEP })).toEqual(['none', 'right'])
      }
    },
  )

  it('clears them in the way of each field', () => {
    const policy = { ...CLEAR, clearWith: { ...clearing('omit'), gender: 'empty', email: 'null' } } as const
    const memory = sent(2, { last_name: 'Gil', email: 'x' })
    expect(brief({ mapped: user(2, { last_name: 'Gil' }), memory, policy })).toEqual([
      'replace',
      { status: 2, last_name: 'Gil', gender: '', email: null },
    ])
  })

  it('is never used while a field is left out or refused: it would be lost', () => {
    const policies = [FULL, CLEAR, { ...FULL, clearWith: clearing('omit') }]
    const { email: _email, ...rest } = every
    const some: Fields = { ...rest, last_name: null }
    const refusedMemory = sent(2, other, { refused: marks({ email: 'email 1' }) })
    for (const policy of policies) {
      expect(plan({ mapped: user(2, some, [LEFT_OUT]), memory: sent(2, other), policy }).kind).toBe('patch')
      expect(plan({ mapped: user(2, every), memory: refusedMemory, policy }).kind).toBe('patch')
    }
  })

  it('is never used where somebody else may have set a field', () => {
    const policy = { ...KEEP, clearWith: clearing('omit') }
    const made = brief({
      mapped: user(2, { email: null, last_name: 'b' }),
      memory: sent(2, { email: 'a' }),
      policy,
    })
    expect(made).toEqual(['patch', { status: 2, email: null, last_name: 'b' }])
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

describe('a trial', () => {
  const known = { email: 'a@x.es' }
  const edited = user(4, { email: 'b@x.es' })

  it.each([
    ['acknowledged', sent(4, known)],
    ['seen', seen(4, known, { looked: false })],
    ['acknowledged, seen as ended', sent(4, known, { seenStatus: 0 })],
  ])('that was %s is looked at before something else is changed', (_how, memory) => {
    expect(brief({ mapped: edited, memory })).toEqual(['lookup', 'trial'])
    expect(brief({ mapped: user(4, known), memory })).toEqual(['none', 'right'])
  })

  it.each<[number, unknown]>([
    [4, { status: 4, email: 'b@x.es' }],
    [0, { status: 0, email: 'b@x.es' }],
  ])('carries the status that the service shows: %i', (status, body) => {
    const memory = seen(status, known, { sentStatus: 4 })
    expect(plan({ mapped: edited, memory })).toMatchObject({ kind: 'patch', body, carried: true })
  })

  it('carries it in a PUT as well', () => {
    const memory = sent(4, { email: 'a@x.es' }, { seenStatus: 0, looked: true })
    const policy = { ...CLEAR, clearWith: clearing('omit') }
    expect(plan({ mapped: user(4, { email: null }), memory, policy })).toEqual({
      kind: 'replace',
      body: { status: 0 },
      fields: ['email'],
      carried: true,
    })
  })

  it('that ended is never repaired', () => {
    expect(brief({ mapped: user(4, known), memory: seen(0, known, { sentStatus: 4 }) })).toEqual([
      'none',
      'right',
    ])
  })

  it.each<[string, Memory]>([
    ['sent as free', sent(0, known)],
    ['sent as premium', sent(2, known)],
    ['seen as free, without a trial before', seen(0, known)],
    ['seen as premium', seen(2, known, { sentStatus: 4 })],
  ])('is granted to a user who was %s', (_what, memory) => {
    expect(brief({ mapped: user(4, known), memory })).toEqual(['patch', { status: 4 }])
  })

  it('is no hindrance to a change of the own status', () => {
    expect(brief({ mapped: user(2, known), memory: sent(4, known) })).toEqual(['patch', { status: 2 }])
    expect(brief({ mapped: user(0, known), memory: sent(4, known, { seenStatus: 0 }) })).toEqual([
      'none',
      'right',
    ])
  })
})

describe('statusIsRight', () => {
  it.each<[Status, number | null, number | null, boolean]>([
    [2, 2, null, true],
    [2, 0, null, false],
    [2, null, null, false],
    [2, null, 2, true],
    [2, 2, 0, false],
    [2, 0, 2, true],
    [0, 4, 0, true],
    [4, 4, 0, true],
    [4, 2, 0, false],
    [4, null, 0, false],
    [4, 4, 2, false],
    [4, 4, -1, false],
  ])('%i, sent %s, seen %s: %s', (status, sentStatus, seenStatus, right) => {
    expect(statusIsRight(status, { sentStatus, seenStatus })).toBe(right)
  })
})

describe('takesAccess', () => {
  const revoke: Plan = { kind: 'revoke', body: { status: 0 } }
  const patch = (status: Status): Plan => ({ kind: 'patch', body: { status }, fields: [], carried: false })

  it.each<[string, Plan, Memory, boolean]>([
    ['a revocation', revoke, sent(2), true],
    ['a revocation where the status is not known', revoke, { ...ABSENT, remote: 'present' }, true],
    ['a revocation where a GET showed access', revoke, seen(4, {}, { sentStatus: 0 }), true],
    ['an update to status 0', patch(0), sent(4), true],
    ['a PUT with status 0', { ...patch(0), kind: 'replace' } as Plan, sent(2), true],
    ['an update of somebody without access', patch(0), sent(0), false],
    ['an update that carries the end of a trial', patch(0), seen(0, {}, { sentStatus: 4 }), false],
    ['an update that leaves access', patch(2), sent(2), false],
    ['a create', { kind: 'create', body: { user_id: 'u', status: 0 }, fields: [] }, ABSENT, false],
    ['a lookup', { kind: 'lookup', why: 'unknown' }, sent(2), false],
  ])('%s', (_what, made, memory, takes) => {
    expect(takesAccess(made, memory)).toBe(takes)
  })
})
