// Access tokens of end users (section 5): signed JWTs, so that clients handle real ones. How the service issues them is
// not shown; the sandbox has a control endpoint for it.
import { randomUUID } from 'node:crypto'
import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose'
import type { SandboxClock } from '../clock.ts'

const ISSUER = 'rollcall-sandbox'
/** Pinned: a token that names another algorithm, `none` included, is refused whatever its signature. */
const ALGORITHM = 'HS256'
const BAD = { kind: 'bad' } as const

export type Tokens = ReturnType<typeof makeTokens>

/** @param secret at least 32 bytes, new at every start: a token does not outlive its sandbox */
export function makeTokens(clock: SandboxClock, secret: Uint8Array) {
  return {
    /** For one hour by default, by the sandbox's clock; `expiresAt` in epoch milliseconds, on the second. */
    async issue(userId: string, { expiresInMs = 3_600_000 }: { readonly expiresInMs?: number } = {}) {
      const now = Math.floor(clock.now() / 1000)
      const expires = now + Math.ceil(expiresInMs / 1000)
      const token = await new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(userId)
        .setIssuedAt(now)
        .setExpirationTime(expires)
        .setJti(randomUUID())
        .sign(secret)
      return { token, expiresAt: expires * 1000 }
    },
    async check(token: string) {
      // A JWT has no padding, but jose accepts it.
      if (token.includes('=')) return BAD
      try {
        const { payload } = await jwtVerify(token, secret, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          requiredClaims: ['sub', 'iat', 'exp', 'jti'],
          currentDate: new Date(clock.now()),
        })
        return typeof payload.sub === 'string' ? ({ kind: 'good', userId: payload.sub } as const) : BAD
      } catch (error) {
        if (error instanceof errors.JWTExpired) return { kind: 'expired' } as const
        if (error instanceof errors.JOSEError) return BAD
        throw error
      }
    },
  }
}

/** The token in an Authorization header, or null. The scheme's name ignores case (RFC 9110, 11.1). */
export function bearerOf(header: string | undefined): string | null {
  return /^bearer +([\w.~+/=-]+)$/i.exec(header ?? '')?.[1] ?? null
}

/** The user that a token names, verified or not: for the journal and for faults. */
export function claimedUser(token: string | null): string | null {
  try {
    const { sub } = decodeJwt(token ?? '')
    return typeof sub === 'string' ? sub : null
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}
