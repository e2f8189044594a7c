// What the chat answers to the user whose token it is (section 4.2).
import { isLoopback } from '../service/address.ts'
import type { ChatClient, Professional } from '../service/chat.ts'
import { AnswerError } from '../service/chat-read.ts'
import { CallError, type CallErrorKind } from '../service/errors.ts'
import type { Bearer } from './token.ts'
import type { ChatSays, ChatWent } from './verdict.ts'

/**
 * `shut`: 403, so the token is good and its user is not let in. `refused`: 401, so nothing is said of the user.
 * `given-up`: not asked, since the service had not answered before.
 */
export type Chat =
  | { readonly kind: 'not-asked'; readonly why: 'no-token' | 'demo' }
  | {
      readonly kind: 'answered'
      readonly professionals: readonly Professional[]
      /** Professionals in the list that could not be read. */
      readonly unreadable: number
    }
  | { readonly kind: 'shut' | 'refused' | 'given-up' }
  | { readonly kind: 'failed'; readonly status: number; readonly waitMs: number | null }
  | { readonly kind: 'no-answer'; readonly error: CallErrorKind }
  | { readonly kind: 'no-permit'; readonly waitMs: number | null }

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
    if (error instanceof CallError) return { kind: 'no-answer', error: error.kind }
    if (!(error instanceof AnswerError)) throw error
    return refusal(error.status, error.retryAfterMs ?? null)
  }
}

function refusal(status: number, waitMs: number | null): Chat {
  if (status === 403) return { kind: 'shut' }
  return status === 401 ? { kind: 'refused' } : { kind: 'failed', status, waitMs }
}

export function chatWent(chat: Chat): ChatWent {
  switch (chat.kind) {
    case 'not-asked':
    case 'answered':
    case 'shut':
      return chat.kind
    case 'refused':
    case 'failed':
    case 'no-answer':
    case 'no-permit':
    case 'given-up':
      return 'failed'
    default:
      return chat satisfies never
  }
}

/** What it answers to a token that may be another user's says nothing good of this one, and nothing certain. */
export function chatSays(chat: Chat, bearer: Bearer): ChatSays {
  const went = bearer === 'another-user' ? 'not-asked' : chatWent(chat)
  switch (went) {
    case 'not-asked':
      return 'elsewhere'
    case 'answered':
      return bearer === 'this-user' ? listed(chat) : 'elsewhere'
    case 'shut':
      return bearer === 'this-user' ? 'shut' : 'shuts-somebody'
    case 'failed':
      return 'failed'
    default:
      return went satisfies never
  }
}

function listed(chat: Chat): ChatSays {
  if (chat.kind !== 'answered' || chat.professionals.length > 0) return 'answered'
  return chat.unreadable > 0 ? 'unreadable' : 'nobody'
}

export type Totals = {
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
