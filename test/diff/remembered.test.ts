// What is remembered by a sync, held against what services of every kind show.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asSeen, asSent, currentOf, type Remembered } from '../../src/diff/remembered.ts'
import type { ComparableField } from '../../src/model/normal.ts'
import { type Fields, OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../../src/model/user.ts'
import { contract } from '../../src/sandbox/contract/contract.ts'
import { type RetrievedForm, retrievedForm } from '../../src/sandbox/users/users.ts'
import { DOUBTED } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { rememberSeen, rememberSent } from '../../src/sync/remember.ts'
import { ABSENT, digests } from '../support/plan-scene.ts'

const SHOWN = OPTIONAL_FIELDS.filter((field): field is ComparableField => field !== UNVERIFIABLE_FIELD)

/** As the mapping makes them. */
const desiredFields = fc.record({
  email: fc.constantFrom('Ana@Correo.es', 'luis@correo.es', null),
  nid_number: fc.constantFrom('12345678Z', null),
  first_name: fc.constantFrom('José', 'Jose\u0301', null),
  last_name: fc.constantFrom('Gil', null),
  gender: fc.constantFrom(0, 1, null),
  birthdate: fc.constantFrom('1980-02-29', null),
  mobile_phone: fc.constantFrom('600111222', '341234567', null),
  mobile_phone_prefix: fc.constantFrom('34', '+34', '351', null),
  coverage_name: fc.constantFrom('gold', null),
  contract_number: fc.constantFrom('34', '0012', null),
  service_language_code: fc.constantFrom('es', null),
  description: fc.constantFrom('a note', null),
  country_code: fc.constantFrom('ES', null),
  ml_group_name: fc.constantFrom('north', null),
  md_group_name: fc.constantFrom('m1', null),
}) satisfies fc.Arbitrary<Fields>

const forms: fc.Arbitrary<RetrievedForm> = fc.record({
  nulls: fc.constantFrom(...contract.shape.nulls.unwrap().values),
  numbers: fc.constantFrom(...contract.shape.numbers.unwrap().values),
  email: fc.constantFrom(...contract.shape.email.unwrap().values),
  phone: fc.constantFrom(...contract.shape.phone.unwrap().values),
})

function sync(fields: Fields): Memory {
  const desired = { userId: 'u7', status: 2, fields } as const
  const write = { desired, verb: 'create', fields: OPTIONAL_FIELDS, status: 2, carried: false } as const
  return rememberSent(ABSENT, write, digests)
}

function look(memory: Memory, fields: Fields, remote: Readonly<Record<string, unknown>>): Memory {
  const desired = { userId: 'u7', status: 2, fields } as const
  return rememberSeen(memory, { userId: 'u7', status: 2, fields: remote }, desired, digests)
}

const remembered = ({ sent, seen }: Pick<Memory, 'sent' | 'seen'>): Remembered => ({
  sent,
  seen,
  blind: false,
  digests,
})

function shownBy(fields: Fields, form?: RetrievedForm): Readonly<Record<string, unknown>> {
  return retrievedForm({ user_id: 'u7', status: 2, ...fields } as Parameters<typeof retrievedForm>[0], form)
}

const all = (each: (field: ComparableField) => unknown) => SHOWN.map((field) => [field, each(field)])

test('what was sent and is still desired is recognised in whatever form the service shows it', () => {
  fc.assert(
    fc.property(desiredFields, forms, (desired, form) => {
      const remote = shownBy(desired, form)
      const known = remembered(sync(desired))
      expect(all((field) => asSent(field, { desired, remote }, known))).toEqual(all(() => 'yes'))
      expect(all((field) => asSeen(field, { desired, remote }, known))).toEqual(all(() => 'never'))
      expect(all((field) => currentOf(field, desired, known))).toEqual(all(() => 'yes'))
    }),
  )
})

test('once a GET has shown it, it is recognised whatever is desired since', () => {
  fc.assert(
    fc.property(desiredFields, desiredFields, forms, (before, desired, form) => {
      const remote = shownBy(before, form)
      const known = remembered(look(sync(before), before, remote))
      expect(all((field) => asSeen(field, { desired, remote }, known))).toEqual(all(() => 'yes'))
      expect(all((field) => asSent(field, { desired, remote }, known))).toEqual(all(() => 'yes'))
    }),
  )
})

test('without such a GET it is recognised letter by letter, numbers as text and a joined or formatted phone too', () => {
  const letters = forms.map((form) => ({ ...form, email: 'kept' as const }))
  fc.assert(
    fc.property(desiredFields, desiredFields, letters, (before, desired, form) => {
      const remote = shownBy(before, form)
      const known = remembered(sync(before))
      expect(all((field) => asSent(field, { desired, remote }, known))).toEqual(all(() => 'yes'))
    }),
  )
})

test('another value is neither what was sent nor what was seen', () => {
  const full: Fields = {
    email: 'ana@correo.es',
    gender: 0,
    mobile_phone: '600111222',
    mobile_phone_prefix: '34',
    description: null,
  }
  const known = remembered(look(sync(full), full, shownBy(full)))
  const edits: Fields[] = [
    { email: 'eva@correo.es' },
    { email: null },
    { gender: 1 },
    { mobile_phone: '600111223' },
    { mobile_phone_prefix: '35' },
    { description: 'a note' },
  ]
  for (const edit of edits) {
    const remote = shownBy({ ...full, ...edit })
    const [field] = Object.keys(edit) as [ComparableField]
    expect([field, asSent(field, { desired: full, remote }, known)]).toEqual([field, 'no'])
    expect([field, asSeen(field, { desired: full, remote }, known)]).toEqual([field, 'no'])
  }
})

test('what was never sent, changed since or is in doubt is told apart', () => {
  const known = remembered(sync({ email: 'a@correo.es', country_code: 'ES' }))
  expect(currentOf('email', { email: 'b@correo.es' }, known)).toBe('no')
  expect(currentOf('last_name', { last_name: 'Gil' }, known)).toBe('never')
  expect(currentOf('country_code', { country_code: 'ES' }, known)).toBe('yes')
  expect(currentOf('country_code', { country_code: 'ES' }, { ...known, blind: true })).toBe('doubted')
  const doubted = { ...known, sent: { country_code: DOUBTED } }
  expect(currentOf('country_code', { country_code: 'ES' }, doubted)).toBe('doubted')
})

test('a phone that is shown joined, and no prefix beside it, is taken apart as it was sent', () => {
  const before: Fields = { mobile_phone: '600111222', mobile_phone_prefix: '34' }
  const desired: Fields = { mobile_phone: '600111333', mobile_phone_prefix: '351' }
  const known = remembered(sync(before))
  const both = (remote: Readonly<Record<string, unknown>>) =>
    (['mobile_phone', 'mobile_phone_prefix'] as const).map((field) =>
      asSent(field, { desired, remote }, known),
    )
  expect(both({ mobile_phone: '+34 600 111 222', mobile_phone_prefix: '' })).toEqual(['yes', 'yes'])
  expect(both({ mobile_phone: '34600111222' })).toEqual(['yes', 'yes'])
  expect(both({ mobile_phone: '34600111223' })).toEqual(['no', 'no'])
  expect(both({ mobile_phone: '35600111222' })).toEqual(['no', 'no'])
})
