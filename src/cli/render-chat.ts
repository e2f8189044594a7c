import { type Chat, isOnline, type ListedProfessional } from '../explain/chat.ts'
import type { Bearer, Claims } from '../explain/token.ts'
import { counted } from '../report/figures.ts'
import { NOT_ASKED } from './explanation.ts'
import { byKind, columns, details, span } from './render.ts'
import { renderCallError } from './render-reason.ts'

const WHOSE: Readonly<Record<Bearer, string>> = {
  'this-user': '',
  'another-user': '; the token belongs to another customer named in this command',
  'named-otherwise': '; the token does not name this user_id, so it may belong to another user',
  unsaid: '; rollcall found no user_id in the token',
}

export function renderChat(
  { chat, claims, bearer }: { chat: Chat; claims: Claims | null; bearer: Bearer | null },
  now: Date,
): string[] {
  const whose = bearer === null ? '' : WHOSE[bearer]
  return details({ chat: `${renderAnswer(chat, claims, now)}${whose}` })
}

function renderAnswer(chat: Chat, claims: Claims | null, now: Date): string {
  return byKind(chat, {
    'not-asked': ({ why }) => `not asked: ${NOT_ASKED[why]}`,
    answered: ({ totals: { professionals, online, unread, rooms } }) =>
      `works: ${counted(professionals, 'professional')}, ${online} online, ${unread} unread in ${counted(rooms, 'room')}`,
    shut: () => 'refused the user of the token (403)',
    refused: () => {
      const expired = claims?.expiresAt ? now.getTime() - claims.expiresAt : -1
      return `refused the token (401): ${expired >= 0 ? `the token expired ${span(expired)} ago` : 'the token has expired, or is of another environment or Api-Key, or its user is not registered'}`
    },
    'no-answer': ({ http, error }) =>
      error === null
        ? `answered ${http} without a list of professionals`
        : `the call to the chat failed: ${renderCallError(error)}`,
  })
}

const DAY_MS = 86_400_000
const HEAD = ['  speciality', 'name', 'online (UTC)', 'unread']

export function renderProfessionals(chat: Chat, now: Date): string[] {
  if (chat.kind !== 'answered') return []
  const { professionals, unreadable } = chat
  const missing = unreadable === 0 ? [] : [`  ${unreadable} more could not be read`]
  if (professionals.length === 0)
    return ['the user of the token sees no professional: check the ml_group_name of this user', ...missing]
  const rows = professionals.map((each) => [
    `  ${each.speciality ?? (each.specialityId === null ? '–' : `number ${each.specialityId}`)}`,
    each.name ?? '–',
    renderConnected(each, now),
    each.room === null ? '–' : String(each.unreadMessages ?? '?'),
  ])
  return ["professionals that the token's user sees", ...columns([HEAD, ...rows]), ...missing]
}

/** Section 2.2: `next_connection_at` is null when already connected, `next_disconnection_at` when not. */
function renderConnected(each: ListedProfessional, now: Date): string {
  const { nextConnectionAt: from, nextDisconnectionAt: until } = each
  const ms = (at: Date) => Math.max(0, at.getTime() - now.getTime())
  const time = (at: Date) =>
    at
      .toISOString()
      .slice(ms(at) < DAY_MS ? 11 : 0, 16)
      .replace('T', ' ')
  if (isOnline(each)) return until === null ? 'now' : `now, until ${time(until)}`
  return from === null
    ? 'not known'
    : ms(from) < DAY_MS
      ? `from ${time(from)}, in ${span(ms(from))}`
      : `from ${time(from)}`
}
