import { messagesPath, PROFESSIONALS } from './address.ts'
import type { MessageQuery } from './chat.ts'
import { AnswerError, type List, readMessages, readProfessionals } from './chat-read.ts'
import type { CallOptions, ClientOptions, Reply } from './client.ts'
import { makeHttp } from './http.ts'

/** Lists have no documented bound (section 8); a message is below a kilobyte unless its text is long. */
export const MAX_LIST_BYTES = 8 * 1024 * 1024

/** Chat exists on production only (section 4). */
export type ChatClientOptions = ClientOptions & {
  /** The end user's JWT (section 5). */
  readonly accessToken: string
}

export type ChatClient = ReturnType<typeof makeChatClient>

/**
 * The chat part of the service (sections 4.1 and 4.2), on behalf of the user whose token it is. Section 5 lists
 * no Content-Type for it, and the Secret-Key is never known here, so it cannot be sent beside a user's token.
 * Each method makes one HTTP call; an answer without a list is an AnswerError, none at all a CallError.
 *
 * Throws RollcallError SERVICE_INSECURE at once.
 */
export function makeChatClient({ accessToken, ...options }: ChatClientOptions) {
  const headers = { authorization: `Bearer ${accessToken}` }
  const http = makeHttp({ ...options, headers, maxAnswerBytes: MAX_LIST_BYTES })

  return {
    async listMessages(query: MessageQuery, { signal }: CallOptions = {}) {
      return listOf(await http.call({ method: 'GET', path: messagesPath(query), signal }), readMessages)
    },
    async listProfessionals({ signal }: CallOptions = {}) {
      return listOf(await http.call({ method: 'GET', path: PROFESSIONALS, signal }), readProfessionals)
    },
    close: http.close,
  }
}

/** Only an array is a list (sections 4.1 and 4.2), and only in a 2xx: errors may well be arrays too. */
function listOf<Item>({ status, body, retryAfterMs }: Reply, read: (value: unknown) => List<Item> | null) {
  if (status < 200 || status > 299) throw new AnswerError('refused', status, retryAfterMs)
  const list = body.kind === 'json' ? read(body.value) : null
  if (list === null) throw new AnswerError('unreadable', status, retryAfterMs)
  return list
}
