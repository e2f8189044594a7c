import { SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { bearersOf, isJwt, readClaims } from '../../src/explain/token.ts'

const sign = (claims: Record<string, unknown>) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('x'.repeat(32)))

test('a token names its user by sub or user_id, and says when it expires', async () => {
  expect(readClaims(await sign({ sub: '4711', exp: 1_800_000_000 }))).toEqual({
    names: ['4711'],
    expiresAt: 1_800_000_000_000,
  })
  expect(readClaims(await sign({ user_id: '4711', sub: 'internal' })).names).toEqual(['internal', '4711'])
  expect(readClaims(new UnsecuredJWT({ sub: 'a' }).encode()).names).toEqual(['a'])
})

test.each(['', 'a', 'a.b', 'a.b.c', 'e30.bnVsbA.x', '..', 'e30.W10.x'])('%j says nothing', (token) => {
  expect(readClaims(token)).toEqual({ names: [], expiresAt: null })
})

test('a name that came as a number is read as text, and claims of another type say nothing', async () => {
  expect(readClaims(await sign({ user_id: 4711, sub: '' })).names).toEqual(['4711'])
  expect(readClaims(await sign({ user_id: 1e300, exp: 1e300 }))).toEqual({ names: [], expiresAt: null })
  expect(readClaims(await sign({ user_id: { id: '4711' } })).names).toEqual([])
})

test('whose token it is: any of its names counts, and none says nothing', () => {
  const claims = (...names: string[]) => ({ names, expiresAt: null })
  expect(bearersOf(claims('internal', '4711'), ['4711'])).toEqual(['this-user'])
  expect(bearersOf(claims(), ['4711', '4712'])).toEqual(['unsaid', 'unsaid'])
})

test('a name that is not the user_id is another user only where it is that of another who was asked about', () => {
  const claims = { names: ['4712'], expiresAt: null }
  expect(bearersOf(claims, ['4711', null])).toEqual(['named-otherwise', 'named-otherwise'])
  expect(bearersOf(claims, ['4711', '4712', null])).toEqual(['another-user', 'this-user', 'another-user'])
})

test.each([
  ['e30.e30.x', true],
  ['e30.e30.', true],
  ['opaque', false],
  ['e30.e30.x.y.z', false],
  ['not.a.jwt', false],
  ['e30.bnVsbA.x', false],
  ['e30.e30.a+/b', false],
])('%j can be an access token: %s', (token, can) => expect(isJwt(token)).toBe(can))
