import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FORMATS, joinPhone } from '../../src/model/formats.ts'
import { OPTIONAL_FIELDS, USER_FIELDS, type UserField } from '../../src/model/user.ts'
import { words } from '../../src/model/values.ts'
import { runs } from '../support/size.ts'

const TEXT_FIELDS = words(
  'first_name last_name coverage_name contract_number description ml_group_name md_group_name',
) as UserField[]

const VALID: readonly [UserField, unknown, string | number][] = [
  ['user_id', 42, '42'],
  ['user_id', 9007199254740993n, '9007199254740993'],
  ['user_id', ' a/b?c=ñ ', 'a/b?c=ñ'],
  ['user_id', 'x'.repeat(255), 'x'.repeat(255)],
  ['status', ' 4 ', 4],
  ['status', 2n, 2],
  ['email', ' Ana.Gil@Correo.ES ', 'Ana.Gil@Correo.ES'],
  ['nid_number', '12.345.678-Z', '12345678Z'],
  ['nid_number', '00000000T', '00000000T'],
  ['nid_number', 'x-1234567-l', 'X1234567L'],
  ['nid_number', 'Y1234567X', 'Y1234567X'],
  ['nid_number', 'Z1234567R', 'Z1234567R'],
  ['gender', '1', 1],
  ['gender', 1n, 1],
  ['birthdate', '1980-02-29 00:00:00', '1980-02-29'],
  ['birthdate', '1980-02-29T00:00:00.000Z', '1980-02-29'],
  ['birthdate', '1980-02-29 00:00:00+02', '1980-02-29'],
  ['birthdate', '2000-02-29', '2000-02-29'],
  ['mobile_phone', '600 12-34.56', '600123456'],
  ['mobile_phone', 600123456, '600123456'],
  ['mobile_phone', '+34 600 123 456', '+34600123456'],
  ['mobile_phone', '0034 600123456', '0034600123456'],
  ['mobile_phone', '123456789012345', '123456789012345'],
  ['mobile_phone_prefix', '+34', '34'],
  ['mobile_phone_prefix', '0034', '34'],
  ['mobile_phone_prefix', 351, '351'],
  ['service_language_code', 'ES', 'es'],
  ['country_code', 'es', 'ES'],
  ['country_code', ' Pt ', 'PT'],
  ['description', 'line\nline\tó', 'line\nline\tó'],
  ['first_name', '  María  José ', 'María  José'],
  ['first_name', 'Jose\u0301', 'Jose\u0301'],
  ['coverage_name', true, 'true'],
  ['last_name', "O'Neill 😀", "O'Neill 😀"],
]

const INVALID: Readonly<Partial<Record<UserField, readonly unknown[]>>> = {
  user_id: ['', null, '..', ' .. ', 'a\nb', 'a\u0085b', 'x'.repeat(256), '\ud800'],
  status: [1, null, '02', true, 2.5],
  email: ['ana', 'ana@localhost', 'Ana <ana@correo.es>', 'a b@correo.es'],
  nid_number: ['12345678A', '00000000R', 'W1234567L', '12345678', '-'],
  gender: [2, false, 'M'],
  birthdate: [
    '1981-02-29',
    '1980-13-01',
    '1980-04-31',
    '0000-01-01',
    '29/02/1980',
    '1980-02-29 13:00:00',
    '0044-03-15 BC',
    new Date(0),
  ],
  mobile_phone: ['123', '1234567890123456', '600123456 ext 5', '++34600123456', '٦٠٠١٢٣٤٥٦'],
  mobile_phone_prefix: ['+', '34567', 'ES'],
  service_language_code: ['es-ES', 'xx'],
  country_code: ['ESP', 'XX'],
  description: ['a\0b'],
  first_name: ['a\udc00'],
  last_name: [Number.NaN],
  coverage_name: [{ plan: 'x' }],
}

describe('FORMATS', () => {
  it.each(VALID)('%s takes %s', (field, value, wire) => {
    expect(FORMATS[field].parse(value)).toEqual({ ok: true, value: wire })
  })

  const refused = USER_FIELDS.flatMap((field) =>
    (INVALID[field] ?? []).map((value) => [field, value] as const),
  )
  it.each(refused)('%s refuses %s', (field, value) => {
    expect(FORMATS[field].parse(value)).toEqual({ ok: false, expected: FORMATS[field].expected })
  })

  it.each(OPTIONAL_FIELDS)('%s takes nothing, an empty text and spaces for no value', (field) => {
    for (const nothing of [null, undefined, '', ' \t ']) {
      expect(FORMATS[field].parse(nothing)).toEqual({ ok: true, value: null })
    }
  })

  it.each(TEXT_FIELDS)('%s keeps every character of a text but the spaces around it', (field) => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        fc.pre(text.trim() !== '' && !text.includes('\0'))
        expect(FORMATS[field].parse(text)).toEqual({ ok: true, value: text.trim() })
      }),
    )
  })

  it('takes for a DNI exactly the letter of its number', () => {
    const letters = 'TRWAGMYFPDXBNJZSQVHLCKE'
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), fc.constantFrom(...letters), (number, letter) => {
        const dni = `${String(number).padStart(8, '0')}${letter}`
        expect(FORMATS.nid_number.parse(dni).ok).toBe(letters[number % 23] === letter)
      }),
    )
  })

  it('never throws, and what it gives is taken again unchanged', () => {
    fc.assert(
      fc.property(fc.constantFrom(...USER_FIELDS), fc.oneof(fc.anything(), fc.string()), (field, value) => {
        const first = FORMATS[field].parse(value)
        if (first.ok) expect(FORMATS[field].parse(first.value)).toEqual(first)
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('joinPhone', () => {
  it.each([
    ['600123456', '34', '600123456'],
    ['+34600123456', '34', '600123456'],
    ['0034600123456', '34', '600123456'],
    ['34600123456', '34', '34600123456'],
    ['+34600123456', null, '34600123456'],
    ['0034600123456', null, '34600123456'],
    ['600123456', null, '600123456'],
  ])('%s beside prefix %s is sent as %s', (number, prefix, wire) => {
    expect(joinPhone(number, prefix)).toEqual({ ok: true, value: wire })
  })

  it.each([
    ['+351912345678', '34'],
    ['00351912345678', '34'],
    ['+34600', '34'],
  ])('%s cannot stand beside prefix %s', (number, prefix) => expect(joinPhone(number, prefix).ok).toBe(false))
})
