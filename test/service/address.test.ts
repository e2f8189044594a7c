import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RollcallError } from '../../src/model/errors.ts'
import { serviceAddress, userPath } from '../../src/service/address.ts'
import { anyText } from '../support/arbitrary.ts'

const codeOf = (make: () => unknown): string | undefined => {
  try {
    make()
    return undefined
  } catch (error) {
    return error instanceof RollcallError ? error.code : String(error)
  }
}

describe('serviceAddress', () => {
  it.each([
    ['https://service.example', 'https://service.example'],
    ['https://service.example/', 'https://service.example'],
    ['https://service.example/s2s/v1', 'https://service.example'],
    ['https://service.example/s2s/v1/', 'https://service.example'],
    ['https://service.example:8443/base/s2s/v1/', 'https://service.example:8443/base'],
    ['https://user:password@service.example/?a=b#c', 'https://service.example'],
  ])('%s', (origin, address) => {
    expect(serviceAddress(origin, false)).toBe(address)
  })

  it.each(['http://localhost:1', 'http://127.0.0.1:1', 'http://127.9.8.7', 'http://127.1', 'http://[::1]:1'])(
    'lets plain http go to loopback: %s',
    (origin) => {
      expect(codeOf(() => serviceAddress(origin, false))).toBeUndefined()
    },
  )

  it.each([
    'http://service.example',
    'http://10.0.0.1',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'http://0.0.0.0',
    'http://128.0.0.1',
  ])('keeps the Secret-Key off plain http: %s (section 5)', (origin) => {
    expect(codeOf(() => serviceAddress(origin, false))).toBe('SERVICE_INSECURE')
    expect(codeOf(() => serviceAddress(origin, true))).toBeUndefined()
  })

  it.each(['', 'service.example', 'ftp://service.example', 'redis://127.0.0.1', 'https://'])(
    'is no address: "%s"',
    (origin) => {
      expect(codeOf(() => serviceAddress(origin, true))).toBe('ENV_INVALID')
    },
  )
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
