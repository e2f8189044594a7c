// An end user's access token (section 5) is a JWT of which only the service can say whether it is good. What it
// says of itself is read to explain an answer, and never believed.
import { decodeJwt } from 'jose'

export type Claims = {
  /** Whom the token names, by `sub` or `user_id`; empty when it does not say. */
  readonly names: readonly string[]
  /** Epoch milliseconds; null when it does not say. */
  readonly expiresAt: number | null
}

const SILENT: Claims = { names: [], expiresAt: null }

export function readClaims(token: string): Claims {
  const claims = decoded(token)
  if (claims === null) return SILENT
  const names = [claims.sub, claims.user_id].filter((name) => typeof name === 'string')
  return { names, expiresAt: momentOf(claims.exp) }
}

/** Seconds since 1970 (RFC 7519, 2), as far as a date can be. */
function momentOf(seconds: unknown): number | null {
  const at = typeof seconds === 'number' ? new Date(seconds * 1000).getTime() : Number.NaN
  return Number.isNaN(at) ? null : at
}

function decoded(token: string): Readonly<Record<string, unknown>> | null {
  try {
    return decodeJwt(token)
  } catch {
    return null // not a JWT that can be read from outside: then it says nothing
  }
}

/** Whose token it is, seen from one customer. */
export type Bearer = 'this-user' | 'another-user' | 'unsaid'

export function bearerOf({ names }: Claims, userId: string | null): Bearer {
  if (names.length === 0) return 'unsaid'
  return userId !== null && names.includes(userId) ? 'this-user' : 'another-user'
}
