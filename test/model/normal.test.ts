import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ComparableField, normalForm, sameField, seenForm } from '../../src/model/normal.ts'
import { type Fields, OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import { anyText } from '../support/arbitrary.ts'
import { runs } from '../support/size.ts'

describe('normalForm', () => {
  it.each<[OptionalField, unknown, string | null]>([
    ['first_name', ' Jose\u0301 ', 'José'],
    ['first_name', 'José', 'José'],
    ['email', 'Ana@Correo.ES', 'ana@correo.es'],
    ['nid_number', '12.345.678-z', '12345678Z'],
    ['nid_number', '-', '-'],
    ['gender', '0', '0'],
    ['birthdate', '1980-02-29T00:00:00', '1980-02-29'],
    ['birthdate', '1980-02-29 00:00:00+01', '1980-02-29'],
    ['mobile_phone', '+34 600-123 (456)', '34600123456'],
    ['mobile_phone', 600123456, '600123456'],
    ['mobile_phone', 'n/a', 'n/a'],
    ['mobile_phone_prefix', '+34', '34'],
    ['service_language_code', 'ES', 'es'],
    ['country_code', 'es', 'ES'],
    ['description', ['x'], '["x"]'],
  ])('%s %j is %j', (field, value, normal) => expect(normalForm(field, value)).toBe(normal))

  it.each(OPTIONAL_FIELDS)('%s is alike when null, absent or empty', (field) => {
    for (const nothing of [null, undefined, '', '  ']) expect(normalForm(field, nothing)).toBeNull()
  })

  it('is idempotent and never throws', () => {
    const value = fc.oneof(
      fc.anything(),
      anyText,
      fc.stringMatching(/^[ .+()/-]*[0-9A-Za-z]*[ .-]*$/),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    )
    fc.assert(
      fc.property(fc.constantFrom(...OPTIONAL_FIELDS), value, (field, given) => {
        const once = normalForm(field, given)
        expect(normalForm(field, once)).toBe(once)
      }),
      { numRuns: runs(1000) },
    )
  })
})

type Remote = Record<string, unknown>
const PHONE: ComparableField = 'mobile_phone'
const PREFIX: ComparableField = 'mobile_phone_prefix'

describe('sameField', () => {
  it.each<[ComparableField, Fields, Remote, boolean]>([
    ['email', { email: 'Ana@x.es' }, { email: 'ana@x.es' }, true],
    ['email', { email: null }, {}, true],
    ['email', { email: null }, { email: '' }, true],
    ['email', { email: null }, { email: 'ana@x.es' }, false],
    ['email', { email: 'ana@x.es' }, { email: null }, false],
    ['gender', { gender: 0 }, { gender: '0' }, true],
    ['gender', { gender: 0 }, { gender: null }, false],
    ['gender', { gender: null }, { gender: 0 }, false],
    ['birthdate', { birthdate: '1980-02-29' }, { birthdate: '1980-02-29T00:00:00' }, true],
  ])('%s: %j and %j: %s', (field, desired, remote, same) => {
    expect(sameField(field, desired, remote)).toBe(same)
  })

  /** Number and prefix, and whether each of them is the same. */
  type Phone = readonly [number?: string | null | undefined, prefix?: string | null]
  const OURS: Phone = ['600123456', '34']
  it.each<[string, Phone, Phone, boolean, boolean]>([
    ['joined', OURS, ['34600123456', '34'], true, true],
    ['joined with +', OURS, ['+34600123456', '+34'], true, true],
    ['apart', OURS, ['600123456', '34'], true, true],
    ['joined without a prefix', OURS, ['+34600123456'], true, true],
    ['split elsewhere', OURS, ['4600123456', '3'], true, false],
    ['without a prefix', OURS, ['600123456'], true, false],
    ['another number', OURS, ['34600123457', '34'], false, true],
    ['another prefix', OURS, ['35600123456', '35'], true, false],
    ['nothing', OURS, [], false, false],
    ['unmanaged prefix', ['600123456'], ['34600123456', '34'], true, false],
    ['number only', ['600123456', null], ['600123456'], true, true],
    ['no number, prefix joined', [null, '34'], ['34', '34'], true, true],
    ['number to be cleared', [null, '34'], ['34600123456', '34'], false, true],
    ['prefix to be cleared', [null, null], [undefined, '34'], true, false],
  ])('phone %s', (_, desired, shown, number, prefix) => {
    const phone = ([mobile_phone, mobile_phone_prefix]: Phone) => ({
      ...(mobile_phone === undefined ? {} : { mobile_phone }),
      ...(mobile_phone_prefix === undefined ? {} : { mobile_phone_prefix }),
    })
    expect(sameField(PHONE, phone(desired), phone(shown))).toBe(number)
    expect(sameField(PREFIX, phone(desired), phone(shown))).toBe(prefix)
  })

  it('finds the number again wherever the service splits it', () => {
    const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[1-9]{${min},${max}}$`))
    fc.assert(
      fc.property(digits(1, 3), digits(4, 12), fc.nat(15), (prefix, number, at) => {
        const whole = prefix + number
        const remote = { mobile_phone_prefix: whole.slice(0, at), mobile_phone: whole.slice(at) }
        expect(sameField(PHONE, { mobile_phone: number, mobile_phone_prefix: prefix }, remote)).toBe(true)
      }),
    )
  })
})

describe('seenForm', () => {
  it('is the form of what was sent when the service holds it in another writing', () => {
    const desired = { mobile_phone: '600123456', mobile_phone_prefix: '34' }
    const remote = { mobile_phone: '+34 600123456' }
    expect(seenForm(PHONE, desired, remote)).toBe('600123456')
    expect(seenForm(PREFIX, desired, remote)).toBe('34')
  })

  it('is the form of what the service holds when that differs', () => {
    expect(seenForm('email', { email: 'a@x.es' }, { email: 'B@x.es' })).toBe('b@x.es')
    expect(seenForm('email', { email: 'a@x.es' }, {})).toBeNull()
  })
})
