import { describe, expect, it } from 'vitest'
import { OPTIONAL_FIELDS } from '../../../src/model/user.ts'
import { makeClock } from '../../../src/sandbox/clock.ts'
import { type ContractInput, makeContract } from '../../../src/sandbox/contract/contract.ts'
import { makeUsers, retrievedForm, type StoredUser } from '../../../src/sandbox/users/users.ts'

const NONE = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, null]))

function build(start: ContractInput = {}) {
  const contract = makeContract(start)
  const clock = makeClock(() => 1_700_000_000_000)
  return { users: makeUsers({ contract, clock }), contract, clock }
}

describe('the users of the sandbox', () => {
  it('hold every field as it was sent, null for nothing', () => {
    const { users } = build({ email: 'lower-case', phone: 'formatted', numbers: 'text', nulls: 'absent' })
    users.set('u', { status: 2, email: 'A@Example.com', mobile_phone: '612', last_name: ' \t' })
    expect(users.get('u')).toEqual({
      ...NONE,
      user_id: 'u',
      status: 2,
      email: 'A@Example.com',
      mobile_phone: '612',
    })
    expect(users.all()).toEqual([users.get('u')])
  })

  it('put the complete user or change what is named, at once or as a write', () => {
    const { users } = build()
    users.set('u', { status: 2, email: 'a@example.com', gender: 1 })
    expect(users.edit('u', { gender: null })).toMatchObject({
      status: 2,
      email: 'a@example.com',
      gender: null,
    })
    expect(users.write('u', { status: 0, gender: 0 }, 'edit')).toMatchObject({
      email: 'a@example.com',
      gender: 0,
    })
    expect(users.write('u', { status: 2 }, 'set')).toEqual({ ...NONE, user_id: 'u', status: 2 })
    expect(users.set('u', {})).toEqual({ ...NONE, user_id: 'u', status: 0 })
    expect(users.edit('new', { first_name: 'Eva' })).toMatchObject({ status: 0, first_name: 'Eva' })
    expect(users.all().map(({ user_id }) => user_id)).toEqual(['u', 'new'])
  })

  it('have one trial, which no edit without a status touches and which a deletion forgets', () => {
    const { users, clock, contract } = build({ trialMs: 1000, trialAgain: 'restarts' })
    users.set('u', { status: 4 })
    clock.advance(600)
    users.edit('u', { email: 'b@example.com' })
    users.write('u', { email: 'c@example.com' }, 'edit')
    clock.advance(600)
    expect(users.access('u')).toBe('trial-over')
    contract.set({ trialMs: 1000 })
    users.edit('u', { status: 4 })
    expect(users.access('u')).toBe('trial-over')
    users.delete('u')
    users.set('u', { status: 4 })
    expect(users.access('u')).toBe('trial')
  })
})

describe('the retrieved form (section 4.4)', () => {
  const user = (part: Partial<StoredUser>) => ({ ...NONE, user_id: 'u', status: 2, ...part }) as StoredUser

  it('has every field but country_code (2.6, rule 1)', () => {
    const { country_code: _unseen, ...rest } = NONE
    expect(retrievedForm(user({ country_code: 'ES' }))).toEqual({ ...rest, user_id: 'u', status: 2 })
  })

  it.each([
    ['612345678', '34', '34612345678', '+34 612 345 678'],
    ['612345678', null, '612345678', '612 345 678'],
    ['+34612345678', '34', '34+34612345678', '+34 612 345 678'],
    ['+351912345678', '34', '34+351912345678', '+351912345678'],
    ['61234', '34', '3461234', '+34 612 34'],
    ['not a number', '34', '34not a number', 'not a number'],
    [null, '34', null, null],
  ])(
    'phone %j with prefix %j: joined %j (2.6, rule 3), formatted %j',
    (number, prefix, joined, formatted) => {
      const held = user({ mobile_phone: number, mobile_phone_prefix: prefix })
      const form = { nulls: 'null', numbers: 'number', email: 'kept' } as const
      expect(retrievedForm(held)).toMatchObject({ mobile_phone: joined, mobile_phone_prefix: prefix })
      expect(retrievedForm(held, { ...form, phone: 'kept' })).toMatchObject({ mobile_phone: number })
      expect(retrievedForm(held, { ...form, phone: 'formatted' })).toMatchObject({ mobile_phone: formatted })
    },
  )
})
