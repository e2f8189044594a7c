import { describe, expect, it, vi } from 'vitest'
import type { Brake, BrakeKind, HeldKind } from '../../src/brake/brake.ts'
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { askBrake, kindsOf, withoutHeld } from '../../src/sync/brake-kinds.ts'
import { UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import type { Plan } from '../../src/sync/plan.ts'
import { ABSENT, clearing, digests, FULL, plan, seen, sent, user } from '../support/plan-scene.ts'

const PRESENT = { existed: true, erases: false, hadAccess: true }
const patch = (body: Extract<Plan, { kind: 'patch' }>['body'], keepsStatus = false): Plan => ({
  kind: 'patch',
  body,
  fields: OPTIONAL_FIELDS.filter((field) => body[field] !== undefined),
  keepsStatus,
})
const replace = (body: Extract<Plan, { kind: 'replace' }>['body']): Plan => ({
  kind: 'replace',
  body,
  fields: OPTIONAL_FIELDS,
  keepsStatus: false,
})

describe('the kinds of a plan', () => {
  const revoke: Plan = { kind: 'revoke', body: { status: 0 } }
  const create: Plan = { kind: 'create', body: { user_id: 'u7', status: 2 }, fields: [] }
  const unknown: Memory = { ...sent(2), sent: { country_code: UNKNOWN_VALUE } }
  it.each<[string, Plan, Memory, readonly BrakeKind[]]>([
    ['a loss of access', revoke, sent(2), ['revocation']],
    ['a loss of access by a PUT', replace({ status: 0 }), sent(2), ['revocation']],
    ['status 0 where there is no access', patch({ status: 0, email: 'a@b.c' }), sent(0), []],
    ['a status that changes to another', patch({ status: 4 }), sent(2), ['status']],
    ['access that is given', patch({ status: 2 }), seen(0), ['status']],
    [
      'a status that was last seen as another',
      patch({ status: 2 }),
      seen(4, {}, { sentStatus: 2 }),
      ['status'],
    ],
    ['a status that is not known', patch({ status: 2 }), { ...sent(2), sentStatus: null }, []],
    [
      'a trial that ended just now, as far as a lookup shows',
      patch({ status: 0, email: 'a@b.c' }, true),
      seen(0, {}, { sentStatus: 4 }),
      ['revocation'],
    ],
    [
      'no access any more, of which a lookup shows none already',
      patch({ status: 0 }),
      seen(0, {}, { sentStatus: 2 }),
      ['revocation'],
    ],
    ['a trial that goes on', patch({ status: 4, email: 'a@b.c' }, true), seen(4, {}, { sentStatus: 4 }), []],
    [
      'a field that is cleared',
      patch({ status: 2, email: null }),
      sent(2, { email: 'x@y.z' }),
      ['clear:email'],
    ],
    ['one that was seen', patch({ status: 2, email: '' }), seen(2, { email: 'x@y.z' }), ['clear:email']],
    ['one that held nothing', patch({ status: 2, email: null }), sent(2, { email: null }), []],
    ['one of which nothing is known', patch({ status: 2, email: null }), sent(2), []],
    ['an unknown country', patch({ status: 2, country_code: null }), unknown, ['clear:country_code']],
    ['one that a PUT leaves out', replace({ status: 2 }), sent(2, { email: 'x@y.z' }), ['clear:email']],
    ['one that a PATCH leaves out', patch({ status: 2, gender: 1 }), sent(2, { email: 'x@y.z' }), []],
    [
      'several at once',
      patch({ status: 0, email: null, gender: null }),
      sent(2, { email: 'x@y.z', gender: 1 }),
      ['revocation', 'clear:email', 'clear:gender'],
    ],
    ['a GET', { kind: 'lookup', why: 'unknown' }, sent(2), []],
    ['erasing', { kind: 'erase', body: { status: 0, email: null }, fields: ['email'] }, sent(0), ['erase']],
    ['a customer that was there and is not', create, ABSENT, ['create', 'absence']],
  ])('%s', (_what, made, memory, kinds) => expect(kindsOf(made, memory, PRESENT)).toEqual(kinds))

  it('a trial of which it was known that it had ended is no change', () => {
    const carried = patch({ status: 0, email: 'a@b.c' }, true)
    expect(kindsOf(carried, seen(0, {}, { sentStatus: 4 }), { ...PRESENT, hadAccess: false })).toEqual([])
  })

  it('a new customer is a registration alone, and a revocation brings the erasure after it', () => {
    expect(kindsOf(create, ABSENT, { ...PRESENT, existed: false })).toEqual(['create'])
    expect(kindsOf(revoke, sent(2), { ...PRESENT, erases: true })).toEqual(['revocation', 'erase'])
  })
})

describe('what goes while the clearing of fields waits', () => {
  const known = (memory: Memory) => ({ memory, digests })
  const email = ['clear:email'] as const

  it('is the status and the other fields', () => {
    const made = patch({ status: 0, email: null, gender: 1 })
    expect(withoutHeld(made, email, known(sent(2, { email: 'x@y.z', gender: 0 })))).toEqual(
      patch({ status: 0, gender: 1 }),
    )
    expect(withoutHeld(patch({ status: 0, email: null }), email, known(sent(2)))).toEqual(
      patch({ status: 0 }),
    )
  })

  it.each<[string, Plan, readonly HeldKind[], Memory]>([
    ['the status is right and nothing else changes', patch({ status: 2, email: null }), email, sent(2)],
    ['a trial keeps the status that it has', patch({ status: 0, email: null }, true), email, seen(0)],
    ['a loss of access is held too', patch({ status: 0, email: null }), ['revocation', ...email], sent(2)],
    ['a table was truncated', patch({ status: 0, email: null }), ['truncated', ...email], sent(2)],
    ['nothing is held', patch({ status: 0, email: null }), [], sent(2)],
    ['it is no update', { kind: 'revoke', body: { status: 0 } }, email, sent(2)],
  ])('is nothing where %s', (_where, made, held, memory) => {
    expect(withoutHeld(made, held, known(memory))).toBeNull()
  })

  it('is of a PUT what is wrong, as a PATCH', () => {
    const fields = { email: 'x@y.z', gender: 0, first_name: 'Ana', nid_number: null } as const
    const desired = user(2, { ...fields, email: null, gender: 1 })
    const policy = { ...FULL, clearWith: clearing('omit') }
    const memory = sent(2, fields)
    const made = plan({ mapped: desired, memory, policy })
    expect(made.kind).toBe('replace')
    expect(withoutHeld(made, email, known(memory))).toEqual(patch({ status: 2, gender: 1 }))
    const right = sent(2, { ...fields, gender: 1 })
    expect(withoutHeld(plan({ mapped: desired, memory: right, policy }), email, known(right))).toBeNull()
  })

  it('is not half of a phone', () => {
    const phone = { mobile_phone: '600111222', mobile_phone_prefix: '34' }
    const made = patch({ status: 2, mobile_phone: null, mobile_phone_prefix: null })
    expect(withoutHeld(made, ['clear:mobile_phone'], known(sent(2, phone)))).toBeNull()
    const other = { ...phone, mobile_phone: '600111333' }
    const policy = { ...FULL, unmanaged: 'clear' as const }
    const memory = sent(2, { ...phone, email: 'x@y.z' })
    const put = plan({ mapped: user(2, other), memory, policy })
    expect(withoutHeld(put, email, known(memory))).toEqual(patch({ status: 2, ...other }))
  })
})

const revoke: Plan = { kind: 'revoke', body: { status: 0 } }
const known = { memory: sent(2), digests }

it('what goes while erasing waits is the revocation, unless that is held as well', () => {
  expect(withoutHeld(revoke, ['erase'], known)).toBe(revoke)
  expect(withoutHeld(revoke, ['erase', 'revocation'], known)).toBeNull()
  const erase: Plan = { kind: 'erase', body: { status: 0, email: null }, fields: ['email'] }
  expect(withoutHeld(erase, ['erase'], known)).toBeNull()
})

describe('asking the brake about a plan', () => {
  const asked: (readonly BrakeKind[])[] = []
  const holding =
    (...held: readonly HeldKind[]): Brake =>
    async ({ kinds }) => {
      asked.push(kinds)
      return kinds.filter((kind) => held.includes(kind)).slice(0, 1)
    }
  const ask = (made: Plan, brake: Brake, memory: Memory, before = PRESENT) => {
    asked.length = 0
    return askBrake(made, { brake, key: '7', desiredDigest: 'd', before, memory, digests, left: [] })
  }
  const memory = sent(2, { email: 'x@y.z', gender: 1 })
  const made = patch({ status: 0, email: null, gender: null })

  it('asks again about what is left, because none of it was counted', async () => {
    expect(await ask(made, holding('clear:email', 'clear:gender'), memory)).toEqual({
      plan: patch({ status: 0 }),
      held: ['clear:email', 'clear:gender'],
    })
    expect(asked).toEqual([
      ['revocation', 'clear:email', 'clear:gender'],
      ['revocation', 'clear:gender'],
      ['revocation'],
    ])
  })

  it('revokes while an erasure after it waits', async () => {
    const revoke: Plan = { kind: 'revoke', body: { status: 0 } }
    const answer = await ask(revoke, holding('erase'), sent(2), { ...PRESENT, erases: true })
    expect(answer).toEqual({ plan: revoke, held: ['erase'] })
    expect(asked).toEqual([['revocation', 'erase'], ['revocation']])
  })

  it('sends all of it where nothing is held, and nothing where its rest is', async () => {
    expect(await ask(made, holding(), memory)).toEqual({ plan: made, held: [] })
    expect(await ask(made, holding('clear:email', 'revocation'), memory)).toEqual({
      plan: null,
      held: ['revocation'],
    })
    const both: Brake = async ({ kinds }) => kinds.filter((kind) => kind !== 'clear:gender')
    expect(await ask(made, both, memory)).toEqual({ plan: null, held: ['revocation', 'clear:email'] })
  })

  it.each([
    ['a lookup has shown', seen(2), true],
    ['a lookup has taken back', seen(0, {}, { sentStatus: 2 }), false],
  ])('says whether there is access that %s', async (_what, memory, hasAccess) => {
    const brake = vi.fn<Brake>(async () => [])
    await ask(patch({ status: 4 }), brake, memory)
    expect(brake).toHaveBeenCalledWith(expect.objectContaining({ hasAccess }))
  })
})
