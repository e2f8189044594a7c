import { expect, test } from 'vitest'
import { makePeople, withLetter } from '../../src/demo/people.ts'
import { FORMATS } from '../../src/model/formats.ts'

const people = makePeople(243)

test('the letter of a DNI follows from its number', () => {
  expect(withLetter('12345678')).toBe('12345678Z')
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

test('no two customers share what is unique, and their addresses lead nowhere', () => {
  for (const column of ['id', 'correo', 'movil', 'contrato', 'dni'] as const)
    expect(new Set(people.map((person) => person[column])).size).toBe(people.length)
  expect(people.filter(({ correo }) => !correo.endsWith('@example.com'))).toEqual([])
})
