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
  ])('does not take %s', (_name, value) => {
    expect(readUser(value, 'u')).toBeNull()
  })

  it('is total over whatever JSON can hold', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void readUser(value, 'u')))
    const user = readUser(JSON.parse('{"user_id":"u","status":2,"__proto__":{"email":"x"}}'), 'u')
    expect(user?.fields.email).toBeUndefined()
  })
})

describe('reportsError (section 7 shows no form of errors)', () => {
  it.each([
    { error: 'no' },
    { error: { code: 'X' } },
    { error: true },
    { error: 12 },
    { errors: ['x'] },
    { errors: { email: 'bad' } },
    { errorCode: 'E1' },
    { error_message: 'x' },
    { success: false },
    { success: 'false' },
    { ok: false },
    { status: 'error' },
    { status: 'FAIL' },
    { status: 500 },
    { status: 'KO' },
    { status: 'not_found' },
    { success: 0 },
    { success: 'no' },
    { ok: 0 },
    { result: false },
    { result: 'error' },
    { Error: 'x' },
    { status: '422' },
    { code: 400 },
    { code: '404' },
    { statusCode: 500 },
    [{ error: 'x' }],
    false,
    { user_id: 'u', status: 2, error: 'x' },
  ])('does: %j', (value) => {
    expect(reportsError(value)).toBe(true)
  })

  it.each([
    { user_id: 'u', status: 0 },
    { user_id: 'u', status: 2, description: 'error' },
    { status: 0 },
    { status: 'ok' },
    { status: '0' },
    { success: true },
    { success: 1 },
    { result: 'ok' },
    { result: { user_id: 'u' } },
    { ok: true },
    { error: null },
    { error: '' },
    { error: false },
    { error: 0 },
    { error: {} },
    { errors: [] },
    { code: 0 },
    { code: 200 },
    { code: 'OK' },
    { code: 399 },
    {},
    [],
    ['error'],
    null,
    true,
    'error',
    500,
  ])('does not: %j', (value) => {
    expect(reportsError(value)).toBe(false)
  })

  it('is total over whatever JSON can hold', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void reportsError(value)))
  })
})
