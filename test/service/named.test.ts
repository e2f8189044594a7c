import { expect, test } from 'vitest'
import { namedFields, saysConflict } from '../../src/service/named.ts'

test.each<[string, unknown, string[]]>([
  ['a key of its errors', { errors: { email: ['is bad'], nid_number: ['taken'] } }, ['email', 'nid_number']],
  ['a key over a list of errors', { email: ['is too long'], gender: [], status: 400 }, ['email']],
  ['no description of the error as a list', { description: ['birthdate is bad'] }, ['birthdate']],
  ['a description in a list of its own', { description: ['is too long'] }, ['description']],
  ['where it points', { errors: [{ field: 'birthdate', message: 'the email was fine' }] }, ['birthdate']],
  ['a path as JSON pointer', { violations: [{ pointer: '/data/mobile_phone' }] }, ['mobile_phone']],
  ['a text', { message: 'nid_number is not valid' }, ['nid_number']],
  ['a text in camel case', { message: 'contractNumber is not valid' }, ['contract_number']],
  [
    'no description of the error',
    { errors: [{ code: 'X', description: 'birthdate: wrong format' }] },
    ['birthdate'],
  ],
  ['a description where no other is named', { errors: { description: 'is too long' } }, ['description']],
  ['a plain word', { error: 'email is not allowed' }, ['email']],
  ['a bare text', 'gender: expected 0 or 1', ['gender']],
  [
    'no key that only carries the text',
    { code: 422, description: 'contract_number is bad' },
    ['contract_number'],
  ],
  [
    'no plain word beside a name',
    { message: 'contract_number is bad; write an email to support' },
    ['contract_number'],
  ],
  [
    'a plain word beside a name, of what another user has',
    { message: 'A user with this email or nid_number already exists' },
    ['email', 'nid_number'],
  ],
  ['nothing of what was sent', { error: 'invalid', request: { email: 'x', gender: 0 } }, []],
  ['nothing of an example', { error: { birthdate: 'bad', example: { email: 'a@b.es' } } }, ['birthdate']],
  ['nothing', { error: 'invalid' }, []],
  ['nothing of null', null, []],
])('of a refusal it takes %s', (_what, body, fields) => expect(namedFields(body)).toEqual(fields))

test('is bounded', () => {
  let deep: unknown = 'email'
  for (let i = 0; i < 50; i++) deep = { a: deep }
  expect(namedFields(deep)).toEqual([])
  expect(namedFields({ message: `${'x'.repeat(3000)} email` })).toEqual([])
})

test.each<[boolean, unknown]>([
  [true, { message: 'email has already been taken' }],
  [true, { errors: [{ field: 'email', code: 'already_exists' }] }],
  [true, { errors: { email: ['must be unique'] } }],
  [true, { message: 'El campo email ya ha sido registrado.' }],
  [true, { message: 'El email ya está en uso' }],
  [true, { email: ['Este campo debe ser único.'] }],
  [true, { field: 'email', message: 'belongs to another user' }],
  [true, { error: 'registro duplicado' }],
  [true, { code: 'DUPLICATE_VALUE' }],
  [true, { error: { type: 'UniqueConstraint' } }],
  [true, { detail: 'The address is in use.' }],
  [true, 'conflict'],
  [true, { email: 'is already associated with another account', nid_number: 'has expired' }],
  [false, { message: 'email is not valid' }],
  [false, { message: 'mistaken' }],
  [false, { nid_number: 'El documento ya ha caducado: has already expired, no longer exists' }],
  [false, { error: 'invalid', request: { email: 'taken@example.com' } }],
  [false, {}],
  [false, null],
])('says that another user has it: %s, %j', (says, body) => expect(saysConflict(body)).toBe(says))
