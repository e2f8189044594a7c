// What the chat answers to the user whose token it is (section 4.2).
import { isLoopback } from '../service/address.ts'
import type { ChatClient, Professional } from '../service/chat.ts'
import { AnswerError } from '../service/chat-read.ts'
import { CallError, type CallErrorKind } from '../service/errors.ts'
import type { Bearer } from './token.ts'

/**
 * `shut`: 403, so the token is good and its user is not let in. `refused`: 401, so nothing is said of the user.
 * `not-asked`, `gave-up`: the service had not answered before.
 */
export type Chat =
  | {
      readonly kind: 'not-asked'
      readonly why: 'no-token' | 'demo' | 'gave-up' | 'no-permit'
      readonly waitMs?: number | null
    }
  | {
      readonly kind: 'answered'
      readonly professionals: readonly Professional[]
      /** Professionals in the list that could not be read. */
      readonly unreadable: number
    }
  | { readonly kind: 'shut' | 'refused' }
  | {
      readonly kind: 'no-answer'
      readonly http: number | null
      readonly error: CallErrorKind | null
      readonly waitMs: number | null
    }

/**
 * Chat exists on production only (section 4). A token that is sent to the demo service could only be lost there;
 * a service on this machine is a stand-in, whatever the configuration calls it.
 */
export function mayAskChat(origin: string, environment: 'production' | 'demo'): boolean {
  return environment === 'production' || isLoopback(new URL(origin).hostname)
}

/** One call; whatever comes of it is an answer, but for an error of our own. */
export async function askChat(client: ChatClient, signal: AbortSignal): Promise<Chat> {
  try {
    const { items, unreadable } = await client.listProfessionals({ signal })
    return { kind: 'answered', professionals: items, unreadable }
  } catch (error) {
    if (error instanceof CallError) return { kind: 'no-answer', http: null, error: error.kind, waitMs: null }
    if (!(error instanceof AnswerError)) throw error
    if (error.status === 403) return { kind: 'shut' }
    if (error.status === 401) return { kind: 'refused' }
    return { kind: 'no-answer', http: error.status, error: null, waitMs: error.retryAfterMs ?? null }
  }
}

/** It was wanted, and says nothing. */
export function chatFailed(chat: Chat): boolean {
  if (chat.kind === 'not-asked') return chat.why === 'gave-up' || chat.why === 'no-permit'
  return chat.kind === 'refused' || chat.kind === 'no-answer'
}

/**
 * How the chat bears on one customer. `nobody`: it lists no professional for this very user; `unreadable`: none that
 * can be read. `shuts-somebody`: 403 to a token of which it is not known whose it is. `silent`: it was not asked,
 * or what it says may be about another user.
 */
export type ChatSays = 'silent' | 'answered' | 'nobody' | 'unreadable' | 'shut' | 'shuts-somebody' | 'failed'

/** What it answers to a token that may be another user's says nothing good of this one, and nothing certain. */
export function chatSays(chat: Chat, bearer: Bearer | null): ChatSays {
  if (bearer === 'another-user') return 'silent'
  if (chatFailed(chat)) return 'failed'
  if (chat.kind === 'shut') return bearer === 'this-user' ? 'shut' : 'shuts-somebody'
  if (chat.kind !== 'answered' || bearer !== 'this-user') return 'silent'
  if (chat.professionals.length > 0) return 'answered'
  return chat.unreadable > 0 ? 'unreadable' : 'nobody'
}

type Totals = {
  readonly professionals: number
  readonly online: number
  readonly rooms: number
  readonly unread: number
}

export function totalsOf(professionals: readonly Professional[]): Totals {
  const rooms = professionals.flatMap(({ room }) => room ?? [])
  return {
    professionals: professionals.length,
    online: professionals.filter(isOnline).length,
    rooms: rooms.length,
    unread: rooms.reduce((sum, { unreadMessages }) => sum + (unreadMessages ?? 0), 0),
  }
}

export function isOnline({ status }: Professional): boolean {
  return status === 'online'
}

/** Whom one can write to now, then who comes next; those who do not say when come last. */
export function inOrder(professionals: readonly Professional[]): readonly Professional[] {
  const rank = (each: Professional) =>
    isOnline(each) ? Number.NEGATIVE_INFINITY : (each.nextConnectionAt?.getTime() ?? Number.POSITIVE_INFINITY)
  const order = (a: Professional, b: Professional) => {
    const [left, right] = [rank(a), rank(b)]
    if (left !== right) return left < right ? -1 : 1
    return (a.specialityId ?? Number.MAX_SAFE_INTEGER) - (b.specialityId ?? Number.MAX_SAFE_INTEGER)
  }
  return [...professionals].sort(order)
}
