import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readUser, reportsError } from '../../src/service/body.ts'

describe('readUser (section 4.4)', () => {
  it('gives the known fields as they came: null, empty, absent, numbers as text', () => {
    const user = readUser(
      {
        user_id: 'u1',
        status: '2',
        email: null,
        first_name: '',
        gender: '1',
        contract_number: 12,
        surprise: {},
      },
      'u1',
    )
    expect(user).toEqual({
      userId: 'u1',
      status: 2,
      fields: { email: null, first_name: '', gender: '1', contract_number: 12 },
    })
  })

  it('takes a user_id that came as a number for the same', () => {
    expect(readUser({ user_id: 17, status: 0 }, '17')).toEqual({ userId: '17', status: 0, fields: {} })
  })

  it('keeps a status that the document does not know', () => {
    expect(readUser({ user_id: 'u', status: 3 }, 'u')?.status).toBe(3)
  })

  it.each([
    ['another user', { user_id: 'other', status: 2 }],
    ['no user_id', { status: 2 }],
    ['no status, so nothing is known about access', { user_id: 'u' }],
    ['a null status', { user_id: 'u', status: null }],
    ['a status in words', { user_id: 'u', status: 'active' }],
    ['an empty status', { user_id: 'u', status: '' }],
    ['a list', [{ user_id: 'u', status: 2 }]],
    ['null', null],
    ['text', 'u'],
  ])('does not take %s', (_name, value) => expect(readUser(value, 'u')).toBeNull())

  it('is total over whatever JSON can hold', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void readUser(value, 'u')))
    const user = readUser(JSON.parse('{"user_id":"u","status":2,"__proto__":{"email":"x"}}'), 'u')
    expect(user?.fields.email).toBeUndefined()
  })
})

describe('reportsError (section 7 shows no form of errors)', () => {
  const ONE: readonly (readonly [key: string, does: readonly unknown[], doesNot: readonly unknown[]])[] = [
    ['error', ['no', { code: 'X' }, true, 12], [null, '', false, 0, {}]],
    ['Error', ['x'], []],
    ['errors', [['x'], { email: 'bad' }], [[]]],
    ['errorCode', ['E1'], []],
    ['error_message', ['x'], []],
    ['success', [false, 'false', 0, 'no'], [true, 1]],
    ['ok', [false, 0], [true]],
    ['status', ['error', 'FAIL', 500, 'KO', 'not_found', '422'], [0, 'ok', '0']],
    ['result', [false, 'error'], ['ok', { user_id: 'u' }]],
    ['code', [400, '404'], [0, 200, 'OK', 399]],
    ['statusCode', [500], []],
  ]
  const user = { user_id: 'u', status: 2 }
  const DOES = [false, [{ error: 'x' }], { ...user, error: 'x' }]
  const DOES_NOT = [{ ...user, status: 0 }, { ...user, description: 'error' }, {}, [], ['error'], null, true]
  it.each<[boolean, unknown]>([
    ...ONE.flatMap(([key, does]) => does.map((value): [boolean, unknown] => [true, { [key]: value }])),
    ...ONE.flatMap(([key, , not]) => not.map((value): [boolean, unknown] => [false, { [key]: value }])),
    ...DOES.map((value): [boolean, unknown] => [true, value]),
    ...[...DOES_NOT, 'error', 500].map((value): [boolean, unknown] => [false, value]),
  ])('is %s: %j', (said, value) => expect(reportsError(value)).toBe(said))

  it('is total over whatever JSON can hold', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void reportsError(value)))
  })
})
