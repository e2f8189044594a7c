import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusePlainHttp, userPath } from '../../src/service/address.ts'
import { anyText } from '../support/arbitrary.ts'

describe('plain http', () => {
  it.each([
    ...['https://service.example', 'http://localhost:1', 'http://127.0.0.1:1', 'http://127.9.8.7'],
    ...['http://127.1', 'http://[::1]:1'],
  ])('goes no further than loopback: %s is taken', (origin) => {
    expect(() => refusePlainHttp(origin)).not.toThrow()
  })

  it.each([
    'http://service.example',
    'http://10.0.0.1',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'http://0.0.0.0',
    'http://128.0.0.1',
  ])('does not carry the Secret-Key to %s (section 5)', (origin) => {
    expect(() => refusePlainHttp(origin)).toThrowError(expect.objectContaining({ code: 'SERVICE_INSECURE' }))
  })
})

describe('userPath (section 4.4)', () => {
  it.each(['', '.', '..', '\ud800', 'a\udc00b'])('refuses %j before any call', (userId) => {
    expect(() => userPath(userId)).toThrowError(
      expect.objectContaining({ name: 'CallError', kind: 'bad-user-id', reached: 'no' }),
    )
  })

  it('survives what URL does to addresses: every other id comes back as it was', () => {
    const odd = fc.constantFrom(
      ...['a/b', 'ñ', '...', '%2e', '%2e%2e', '.%2e', 'a b', '😀', '?', '#', '\\', '//', ';', "!'()*"],
      ...['\n\t', '%00', '\0', ' '],
    )
    const id = fc.oneof(
      odd,
      fc.array(odd, { minLength: 1 }).map((parts) => parts.join('')),
      anyText,
    )
    fc.assert(
      fc.property(id, (userId) => {
        fc.pre(!['', '.', '..'].includes(userId) && userId.isWellFormed())
        const { pathname, search, hash } = new URL(`https://service.example${userPath(userId)}`)
        const [segment, ...more] = pathname.slice('/s2s/v1/users/'.length).split('/')
        expect([more, search, hash]).toEqual([[], '', ''])
        expect(decodeURIComponent(segment ?? '')).toBe(userId)
      }),
    )
  })
})
