import { afterEach, describe, expect, it, vi } from 'vitest'
import { addressOf, isLocal, plaintextProblem } from '../../src/config/address.ts'

afterEach(() => vi.unstubAllEnvs())

describe('what stays on this machine', () => {
  const LOCAL = ['localhost', 'LocalHost', '127.0.0.1', '::1', '::ffff:127.0.0.1', '/var/run']
  const OTHER = [
    'db',
    '127.example',
    'localhost.example',
    '128.0.0.1',
    '10.0.0.1',
    '::2',
    '0.0.0.0',
    '127.1',
    '',
  ]
  it.each([...LOCAL.map((host) => [host, true] as const), ...OTHER.map((host) => [host, false] as const)])(
    '"%s": %s',
    (host, local) => expect(isLocal(host)).toBe(local),
  )
})

describe('an address of a Postgres', () => {
  it.each([
    ['postgres://h/d', { server: 'h:5432', local: false, encrypted: false }],
    ['postgres://ana:x@h:6000/d', { server: 'h:6000', local: false, encrypted: false }],
    ['postgresql://127.0.0.1:6000/d', { server: '127.0.0.1:6000', local: true, encrypted: false }],
    ['postgres://[::1]/d', { server: '[::1]:5432', local: true, encrypted: false }],
    ['postgres://[2001:db8::1]/d', { server: '[2001:db8::1]:5432', local: false, encrypted: false }],
    [
      'postgres:///d?host=/var/run/postgresql',
      { server: '/var/run/postgresql', local: true, encrypted: false },
    ],
    ['postgres://%2Fvar%2Frun/d', { server: '/var/run', local: true, encrypted: false }],
    ['postgres://localhost/d?host=h', { server: 'h:5432', local: false, encrypted: false }],
    ['postgres://h/d?host=127.0.0.1&port=7000', { server: '127.0.0.1:7000', local: true, encrypted: false }],
  ])('%s', (url, address) => expect(addressOf(url)).toEqual(address))

  it.each([
    ['sslmode=require', true],
    ['sslmode=verify-full', true],
    ['sslmode=disable', false],
    // With these two other programs are content with plain text, and pg announces to follow them.
    ['sslmode=prefer', false],
    ['sslmode=allow', false],
    ['ssl=true', true],
    ['sslnegotiation=direct', true],
    ['uselibpqcompat=true&sslmode=require', true],
    ['sslmode=verify-full&sslmode=disable', false],
    ['sslmode=disable&sslmode=verify-full', true],
    ['ssl=true&sslmode=disable', false],
  ])('%s: encrypted is %s', (options, encrypted) =>
    expect(addressOf(`postgres://h/d?${options}`)?.encrypted).toBe(encrypted),
  )

  it('goes by the variables of Postgres where the address says nothing, as pg does', () => {
    vi.stubEnv('PGHOST', 'db.example')
    vi.stubEnv('PGSSLMODE', 'verify-full')
    expect(addressOf('postgres:///d')).toEqual({ server: 'db.example:5432', local: false, encrypted: true })
  })

  it('cannot be used with a certificate that is not there', () => {
    const url = 'postgres://h/d?sslmode=verify-full&sslrootcert=/nowhere/s3creto.pem'
    expect(addressOf(url)).toBeUndefined()
    expect(plaintextProblem(url, { use: 'database', allowed: ['database'] })).toMatch(/sslrootcert/)
  })
})

it.each([
  ['redis://h', { server: 'h:6379', local: false, encrypted: false }],
  ['rediss://:x@h:6380/1', { server: 'h:6380', local: false, encrypted: true }],
  ['redis://localhost', { server: 'localhost:6379', local: true, encrypted: false }],
  ['redis://[::1]:7000', { server: '[::1]:7000', local: true, encrypted: false }],
  ['redis:///0?host=h', { server: 'h:6379', local: false, encrypted: false }],
  ['redis://h?path=/run/redis.sock', { server: '/run/redis.sock', local: true, encrypted: false }],
  // For ioredis this empties what the scheme says.
  ['rediss://h?tls=', { server: 'h:6379', local: false, encrypted: false }],
])('an address of a Redis: %s', (url, address) => expect(addressOf(url)).toEqual(address))

describe('plain text to another machine', () => {
  it('is a problem that says what to write', () => {
    expect(plaintextProblem('postgres://ana:s3creto@h/d', { use: 'database', allowed: ['queue'] })).toMatch(
      /sslmode=verify-full.*ALLOW_PLAINTEXT=database/,
    )
    expect(plaintextProblem('redis://:s3creto@h', { use: 'queue', allowed: ['database'] })).toMatch(
      /rediss:.*ALLOW_PLAINTEXT=queue/,
    )
  })

  it.each([
    ['is allowed', 'redis://h', ['queue']],
    ['stays here', 'redis://127.0.0.1', []],
    ['is encrypted', 'rediss://h', []],
  ] as const)('is none where it %s', (_, url, allowed) =>
    expect(plaintextProblem(url, { use: 'queue', allowed })).toBeUndefined(),
  )
})
