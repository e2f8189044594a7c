// Where the service and each of its resources is. The environment was checked when it was read (config/env.ts).
import type { Config } from '../config/config.ts'
import { RollcallError } from '../model/errors.ts'
import type { NamedService } from '../model/service.ts'
import type { MessageQuery } from './chat.ts'
import { CallError } from './errors.ts'

/**
 * Plain http is for this machine only: the Secret-Key would be readable on the way.
 *
 * Throws RollcallError SERVICE_INSECURE.
 */
export function refusePlainHttp(origin: string): void {
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new RollcallError('SERVICE_INSECURE', [`SERVICE_URL: plain http to ${hostname}`])
  }
}

export function namedService(origin: string, { service }: Pick<Config, 'service'>): NamedService {
  return { origin, environment: service.environment, local: isLoopback(new URL(origin).hostname) }
}

/** `hostname` as URL writes it: IPv4 in four decimal parts, IPv6 in brackets, names in lower case. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
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
