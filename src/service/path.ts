import type { MessageQuery } from './chat.ts'
import { CallError } from './errors.ts'

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

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
