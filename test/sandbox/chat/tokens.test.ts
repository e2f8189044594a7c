// Section 5: Bearer tokens in JWT form, and who gets one.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimedUser, makeTokens } from '../../../src/sandbox/chat/tokens.ts'
import { makeClock } from '../../../src/sandbox/clock.ts'
import { runs } from '../../support/size.ts'
import { sandboxOfFile, talk } from '../talk.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const secret = randomBytes(32)
const clock = makeClock(() => NOW)
const tokens = makeTokens(clock, secret)
const CLAIMS = { iss: 'rollcall-sandbox', sub: 'u', iat: NOW / 1000, exp: NOW / 1000 + 60, jti: 'j' }

beforeEach(() => clock.clear())

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a token', () => {
  it('is a signed JWT with the claims of the registered user, by the sandbox clock', async () => {
    const { token, expiresAt } = await tokens.issue('u', { expiresInMs: 90_000 })
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(decodeJwt(token)).toEqual({ ...CLAIMS, exp: NOW / 1000 + 90, jti: expect.any(String) })
    expect(expiresAt).toBe(NOW + 90_000)
    expect(await tokens.check(token)).toEqual({ kind: 'good', userId: 'u' })
    expect(await tokens.check(`${token}=`), 'padded').toEqual({ kind: 'bad' })
    const other = await tokens.issue('u')
    expect(decodeJwt(other.token).jti).not.toBe(decodeJwt(token).jti)
    expect(other.expiresAt).toBe(NOW + 3_600_000)
  })

  it('ends by the sandbox clock, at its second', async () => {
    const { token } = await tokens.issue('u', { expiresInMs: 60_000 })
    clock.advance(59_999)
    expect((await tokens.check(token)).kind).toBe('good')
    clock.advance(1)
    expect((await tokens.check(token)).kind).toBe('expired')
    expect((await tokens.check((await tokens.issue('u', { expiresInMs: 0 })).token)).kind).toBe('expired')
  })

  const hs256 = (claims: object, key: Uint8Array = secret) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(key)
  it.each<[string, () => string | Promise<string>]>([
    ['another secret', () => hs256(CLAIMS, randomBytes(32))],
    ['no signature, algorithm none', () => new UnsecuredJWT(CLAIMS).encode()],
    ['another issuer', () => hs256({ ...CLAIMS, iss: 'somebody' })],
    [
      'a changed user',
      async () => {
        const [head, , signature] = (await hs256(CLAIMS)).split('.')
        return [head, base64url({ ...CLAIMS, sub: 'other' }), signature].join('.')
      },
    ],
    ['no end', () => hs256({ ...CLAIMS, exp: undefined })],
  ])('is refused with %s', async (_name, make) => {
    expect(await tokens.check(await make())).toEqual({ kind: 'bad' })
  })

  it('that is anything at all is refused without a fuss', async () => {
    const heads = [
      { alg: 'HS256' },
      { alg: 'none' },
      { alg: {} },
      { alg: 'HS256', b64: false, crit: ['b64'] },
    ]
    const part = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.constantFrom(...heads, CLAIMS).map(base64url),
    )
    const text = fc.array(part, { maxLength: 5 }).map((parts) => parts.join('.'))
    await fc.assert(
      fc.asyncProperty(text, async (any) => {
        expect((await tokens.check(any)).kind).not.toBe('good')
        expect(typeof (claimedUser(any) ?? '')).toBe('string')
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('POST /_sandbox/tokens', () => {
  const sandbox = sandboxOfFile({ now: () => NOW })
  beforeAll(() => void sandbox.users.set('u 1', { status: 2 }))

  const post = (body: unknown) => talk(sandbox, 'POST /_sandbox/tokens', { body })

  it('issues one for a registered user', async () => {
    const { status, json } = await post({ user_id: 'u 1', expires_in: 120 })
    expect(status).toBe(201)
    expect(json).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      user_id: 'u 1',
      expires_at: '2026-03-02T10:02:00.000Z',
    })
    expect(await post({ user_id: 'u 1' })).toMatchObject({ json: { expires_at: '2026-03-02T11:00:00.000Z' } })
  })
})
