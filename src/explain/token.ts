// An end user's access token (section 5) is a JWT of which only the service can say whether it is good. Its claims
// are read to explain an answer, and never trusted.
import { decodeJwt } from 'jose'

export type Claims = {
  /** The users that the token names, by `sub` or `user_id`, numbers as text; empty when it does not say. */
  readonly names: readonly string[]
  /** Epoch milliseconds; null when it does not say. */
  readonly expiresAt: number | null
}

/**
 * Whether it can be an access token at all: three parts in base64url, the second of them a JSON object (RFC 7515,
 * 7.1). Anything else was pasted by mistake, and may be a secret that the service must not get.
 */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token) && decoded(token) !== null
}

export function readClaims(token: string): Claims {
  const claims = decoded(token) ?? {}
  const names = [claims.sub, claims.user_id].map(nameOf).filter((name) => name !== null)
  return { names, expiresAt: momentOf(claims.exp) }
}

/** A number that lost digits when it was read names no user. */
function nameOf(claim: unknown): string | null {
  const name = Number.isSafeInteger(claim) ? String(claim) : claim
  return typeof name === 'string' && name !== '' ? name : null
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

/**
 * The owner of the token, seen from one customer. The document does not show what `sub` holds (section 5). A name
 * that is not the user_id may be the service's own for the same user (`named-otherwise`). It is another user's for
 * certain only if another customer in the same command has it.
 */
export type Bearer = 'this-user' | 'another-user' | 'named-otherwise' | 'unsaid'

/** For each of those who were asked about together. */
export function bearersOf({ names }: Claims, userIds: readonly (string | null)[]): Bearer[] {
  if (names.length === 0) return userIds.map(() => 'unsaid')
  const named = userIds.map((userId) => userId !== null && names.includes(userId))
  const others = named.includes(true) ? 'another-user' : 'named-otherwise'
  return named.map((isNamed) => (isNamed ? 'this-user' : others))
}
