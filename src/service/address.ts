// Where the service and each of its resources is, and the values of the headers of section 5. A value that no header
// may carry is reported at once, by the variable's name and never with the value.
import { validateHeaderValue } from 'node:http'
import type { Config } from '../config/config.ts'
import { accessToken } from '../config/env.ts'
import { RollcallError } from '../model/errors.ts'
import type { NamedService } from '../model/service.ts'
import type { MessageQuery } from './chat.ts'
import { CallError } from './errors.ts'

/**
 * The address under which the service's paths stand. Takes an origin, or one that already ends in `/s2s/v1`,
 * with or without a trailing slash; user and password in it are dropped (section 5 knows no such thing).
 * Plain http is for this machine only: the Secret-Key would be readable on the way.
 *
 * Throws RollcallError ENV_INVALID (no http address) or SERVICE_INSECURE.
 */
export function serviceAddress(origin: string, allowPlainHttp: boolean): string {
  const url = URL.canParse(origin) ? new URL(origin) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new RollcallError('ENV_INVALID', [
      'SERVICE_URL: expected an address such as https://service.example',
    ])
  }
  if (url.protocol === 'http:' && !allowPlainHttp && !isLoopback(url.hostname)) {
    throw new RollcallError('SERVICE_INSECURE', [`SERVICE_URL: plain http to ${url.hostname}`])
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/s2s\/v1$/, '')
}

/** Section 4 has production and development at separate addresses. */
export function namedService(origin: string, { service }: Pick<Config, 'service'>): NamedService {
  return { origin, environment: service.environment, local: isLoopback(new URL(origin).hostname) }
}

/** `hostname` as URL writes it: IPv4 in four decimal parts, IPv6 in brackets, names in lower case. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** Throws RollcallError ENV_INVALID for a key with a line break or the like, which could not be sent. */
export function headerValue(variable: string, key: string): string {
  try {
    validateHeaderValue(variable, key)
    return key
  } catch {
    throw new RollcallError('ENV_INVALID', [`${variable}: holds characters that no HTTP header may hold`])
  }
}

/**
 * The Authorization header for an access token. Quotes or spaces within it would be sent and refused for a reason
 * that is not seen.
 *
 * Throws RollcallError ENV_INVALID for an empty token, and for one that cannot stand in the header.
 */
export function bearer(variable: string, token: string): string {
  const bare = accessToken(token)
  if (bare === undefined)
    throw new RollcallError('ENV_INVALID', [`${variable}: expected a JWT and nothing else`])
  return `Bearer ${bare}`
}

export const USERS = '/s2s/v1/users'
/** Section 4.2: no query parameters. */
export const PROFESSIONALS = '/chat/professionals'

/**
 * The path of one user (section 4.4). Everything but letters, digits and `-._~` is percent-encoded, so that
 * a `/` in a `user_id` stays in its segment. Empty, `.` and `..` are refused: URLs take `%2e` for a dot, so
 * even encoded they would lead to another path.
 *
 * Throws CallError `bad-user-id`; nothing was sent.
 */
export function userPath(userId: string): string {
  if (userId === '' || userId === '.' || userId === '..' || !userId.isWellFormed()) {
    throw new CallError('bad-user-id', 'no')
  }
  const percent = (each: string) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`
  return `${USERS}/${encodeURIComponent(userId).replace(/[!'()*]/g, percent)}`
}

/** The path of a list of messages (section 4.1), with those parameters alone that were given. */
export function messagesPath({ room, pivot, limit, older }: MessageQuery): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ room, pivot, limit, older })) {
    if (value !== undefined) query.set(name, String(value))
  }
  return `/chat/message?${query}`
}
