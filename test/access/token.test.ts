import { SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { bearerOf, readClaims } from '../../src/access/token.ts'

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

test('claims of another type say nothing', async () => {
  expect(readClaims(await sign({ user_id: 4711, exp: 1e300 }))).toEqual({ names: [], expiresAt: null })
})

test('whose token it is: any of its names counts, and none says nothing', () => {
  const claims = (...names: string[]) => ({ names, expiresAt: null })
  expect(bearerOf(claims('internal', '4711'), '4711')).toBe('this-user')
  expect(bearerOf(claims('4712'), '4711')).toBe('another-user')
  expect(bearerOf(claims('4712'), null)).toBe('another-user')
  expect(bearerOf(claims(), '4711')).toBe('unsaid')
})
