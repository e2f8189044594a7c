// Access tokens of end users (section 5). How the service issues them is not shown; the sandbox has a control
// endpoint for it, and signs them, so that a client's handling of tokens meets real ones.
import { decodeJwt, errors, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../clock.ts'

const ISSUER = 'rollcall-sandbox'
/** Pinned: a token that names another algorithm, `none` included, is refused whatever its signature. */
const ALGORITHM = 'HS256'

const HOUR_MS = 3_600_000

export type IssuedToken = {
  readonly token: string
  /** Epoch milliseconds, on the second. */
  readonly expiresAt: number
}

export type TokenCheck =
  | { readonly kind: 'good'; readonly userId: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'bad' }

export type Tokens = {
  /** Default one hour, by the sandbox's clock. */
  issue(userId: string, options?: { readonly expiresInMs?: number }): Promise<IssuedToken>
  check(token: string): Promise<TokenCheck>
}

export type TokenParts = {
  readonly clock: Clock
  /** At least 32 bytes, new at every start: a token of yesterday's sandbox is nobody's today. */
  readonly secret: Uint8Array
  /** For `jti`. */
  readonly uuid: () => string
}

export function makeTokens({ clock, secret, uuid }: TokenParts): Tokens {
  return {
    async issue(userId, { expiresInMs = HOUR_MS } = {}) {
      const now = Math.floor(clock.now() / 1000)
      const expires = now + Math.ceil(expiresInMs / 1000)
      const token = await new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(userId)
        .setIssuedAt(now)
        .setExpirationTime(expires)
        .setJti(uuid())
        .sign(secret)
      return { token, expiresAt: expires * 1000 }
    },
    async check(token) {
      // A JWT has no padding, and jose would pass over it.
      if (token.includes('=')) return { kind: 'bad' }
      try {
        const { payload } = await jwtVerify(token, secret, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          requiredClaims: ['sub', 'iat', 'exp', 'jti'],
          currentDate: new Date(clock.now()),
        })
        return typeof payload.sub === 'string' ? { kind: 'good', userId: payload.sub } : { kind: 'bad' }
      } catch (error) {
        if (error instanceof errors.JWTExpired) return { kind: 'expired' }
        if (error instanceof errors.JOSEError) return { kind: 'bad' }
        throw error
      }
    },
  }
}

/** The token in an Authorization header; null when it holds none. The scheme's name has no case (RFC 9110, 11.1). */
export function bearerOf(header: string | undefined): string | null {
  return /^bearer +([\w.~+/=-]+)$/i.exec(header ?? '')?.[1] ?? null
}

/** Whom a token says it is about, believed or not: for the journal and for faults. */
export function claimedUser(token: string): string | null {
  try {
    const { sub } = decodeJwt(token)
    return typeof sub === 'string' ? sub : null
  } catch (error) {
    // Whatever stands there is no token, and so nobody's.
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}
