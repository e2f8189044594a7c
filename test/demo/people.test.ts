import { expect, test } from 'vitest'
import { makePeople, withRightLetter } from '../../src/demo/people.ts'
import { FORMATS } from '../../src/model/formats.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'

const people = makePeople(243, seededRandom(2))

test('the letter of a DNI and of a NIE follows from its number', () => {
  expect(withRightLetter('12345678A')).toBe('12345678Z')
  expect(withRightLetter('X1234567A')).toBe('X1234567L')
})

test('every field of every customer is one that the service takes, but for two wrong DNIs', () => {
  const taken = people.filter(
    ({ correo, movil, nacimiento, pais, idioma }) =>
      FORMATS.email.parse(correo).ok &&
      FORMATS.mobile_phone.parse(movil).ok &&
      FORMATS.birthdate.parse(nacimiento).ok &&
      FORMATS.country_code.parse(pais).ok &&
      FORMATS.service_language_code.parse(idioma).ok,
  )
  expect(taken).toHaveLength(people.length)
  expect(people.filter(({ dni }) => !FORMATS.nid_number.parse(dni).ok)).toHaveLength(2)
})

test('no two customers share a key, an address or a phone number', () => {
  for (const column of ['id', 'correo', 'movil', 'contrato'] as const) {
    expect(new Set(people.map((person) => person[column].replaceAll(' ', ''))).size).toBe(people.length)
  }
})

test('addresses lead nowhere: their domains are reserved for examples', () => {
  expect(people.filter(({ correo }) => !/@example\.(com|org|net)$/.test(correo))).toEqual([])
})

test('the same seed gives the same people', () => {
  expect(makePeople(243, seededRandom(2))).toEqual(people)
})
