// The chat's answer to the user whose token it is (section 4.2).
import { isLoopback } from '../service/address.ts'
import { SPECIALITIES } from '../service/chat.ts'
import type { ChatClient } from '../service/chat-client.ts'
import { AnswerError, type List, type Professional } from '../service/chat-read.ts'
import { CallError, type CallErrorKind } from '../service/errors.ts'
import type { Shut } from './remote.ts'
import type { Bearer } from './token.ts'

/**
 * `shut`: 403, so the token is good and its user is not let in. `refused`: 401, so nothing is said of the user.
 * `not-asked`, `gave-up`: the service had not answered before.
 */
export type Chat =
  | {
      readonly kind: 'not-asked'
      readonly why: 'no-token' | 'demo' | 'gave-up' | Shut['why']
      readonly waitMs?: number | null
    }
  | ReturnType<typeof listing>
  | { readonly kind: 'shut' | 'refused' }
  | {
      readonly kind: 'no-answer'
      readonly http: number | null
      readonly error: CallErrorKind | null
      readonly waitMs: number | null
    }

export const NO_TOKEN = { kind: 'not-asked', why: 'no-token' } as const satisfies Chat

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
    return listing(await client.listProfessionals({ signal }))
  } catch (error) {
    if (error instanceof CallError) return { kind: 'no-answer', http: null, error: error.kind, waitMs: null }
    if (!(error instanceof AnswerError)) throw error
    if (error.status === 403) return { kind: 'shut' }
    if (error.status === 401) return { kind: 'refused' }
    return { kind: 'no-answer', http: error.status, error: null, waitMs: error.retryAfterMs ?? null }
  }
}

/** Professionals who can be written to now, then those who come next; those without a time come last. */
export function listing({ items, unreadable }: List<Professional>) {
  const professionals: readonly ListedProfessional[] = items
    .map(listed)
    .sort((a, b) => comingIn(a) - comingIn(b) || (a.specialityId ?? LAST) - (b.specialityId ?? LAST))
  const totals = {
    professionals: professionals.length,
    online: professionals.filter(isOnline).length,
    rooms: professionals.filter(({ room }) => room !== null).length,
    unread: professionals.reduce((sum, { unreadMessages }) => sum + (unreadMessages ?? 0), 0),
  }
  return { kind: 'answered' as const, totals, unreadable, professionals }
}

/** A professional as the token's user sees it; no message and no word of one. */
export type ListedProfessional = Readonly<ReturnType<typeof listed>>

function listed(each: Professional) {
  const { professionalId, name, status, specialityId, nextConnectionAt, nextDisconnectionAt, room } = each
  return {
    ...{ professionalId, name, status, specialityId },
    speciality: specialityId === null ? null : (SPECIALITIES.get(specialityId) ?? null),
    ...{ nextConnectionAt, nextDisconnectionAt },
    /** Null: they have not written to each other. */
    room: room?.id ?? null,
    unreadMessages: room?.unreadMessages ?? null,
  }
}

export function isOnline({ status }: Pick<Professional, 'status'>): boolean {
  return status === 'online'
}

const LAST = Number.MAX_SAFE_INTEGER

function comingIn(each: ListedProfessional): number {
  return isOnline(each) ? 0 : (each.nextConnectionAt?.getTime() ?? LAST)
}

export function chatFailed(chat: Chat): boolean {
  if (chat.kind === 'not-asked') return chat.why !== 'no-token' && chat.why !== 'demo'
  return chat.kind === 'refused' || chat.kind === 'no-answer'
}

/**
 * How the chat bears on one customer. `nothing`: it was not asked, it lets the user in, or it may speak of another user.
 * `none-visible`: it lists no professional for this very user. `unclear`: it says nothing certain.
 */
export type ChatSays = 'nothing' | 'none-visible' | 'shut' | 'unclear'

/** Its answer to a token that may be another user's says nothing good of this user, and nothing certain. */
export function chatSays(chat: Chat, bearer: Bearer | null): ChatSays {
  if (bearer === 'another-user') return 'nothing'
  if (chatFailed(chat)) return 'unclear'
  if (chat.kind === 'shut') return bearer === 'this-user' ? 'shut' : 'unclear'
  if (chat.kind !== 'answered' || bearer !== 'this-user' || chat.professionals.length > 0) return 'nothing'
  return chat.unreadable > 0 ? 'unclear' : 'none-visible'
}
