import { type Chat, isOnline, type ListedProfessional } from '../explain/chat.ts'
import type { Bearer, Claims } from '../explain/token.ts'
import { counted } from '../report/figures.ts'
import { isLoopback } from '../service/address.ts'
import { NOT_ASKED } from './explanation.ts'
import { byKind, columns, details, nearTime, span } from './render.ts'
import { renderCallError } from './render-step.ts'

export type Reader = { readonly now: Date; readonly timeZone: string }

type ChatView = { readonly chat: Chat; readonly claims: Claims | null; readonly bearer: Bearer | null }

const WHOSE: Readonly<Record<Bearer, string>> = {
  'this-user': '',
  'another-user': 'the token belongs to another customer named here: ',
  'named-otherwise': 'the token does not name the user_id of this customer and may be of another user: ',
  unsaid: 'the token names no user: ',
}

export function renderChat({ chat, claims, bearer }: ChatView, reader: Reader): string[] {
  const whose = bearer === null || chat.kind === 'not-asked' ? '' : WHOSE[bearer]
  return details([['chat', `${whose}${renderAnswer(chat, claims, reader)}`]])
}

/** Where there is a chat at all (section 4), once for all customers. */
export function renderChatNote(origin: string, environment: 'production' | 'demo'): string[] {
  const demo = environment === 'demo' ? '; this is the demo service' : ''
  const here = isLoopback(new URL(origin).hostname) ? '; this is a stand-in on this machine' : demo
  return ['', ...details([['note', `chat exists on production only${here}`]])]
}

function renderAnswer(chat: Chat, claims: Claims | null, { now }: Reader): string {
  return byKind(chat, {
    'not-asked': ({ why }) => `not asked: ${NOT_ASKED[why]}`,
    answered: ({ totals: { professionals, online, unread, rooms } }) =>
      `answers: ${counted(professionals, 'professional')}, ${online} online, ${unread} unread in ${counted(rooms, 'room')}`,
    shut: () => 'refused the user (403): no access, usually because of status 0 or an ended trial',
    refused: () => {
      const expired = claims?.expiresAt ? now.getTime() - claims.expiresAt : -1
      return `refused the token (401): ${expired >= 0 ? `it expired ${span(expired)} ago` : 'it has expired, it belongs to another environment or Api-Key, or its user is not registered'}`
    },
    'no-answer': ({ http, error }) =>
      error === null ? `answered ${http} without a list of professionals` : renderCallError(error),
  })
}

const MOST_ROWS = 200
const HEAD = ['  speciality', 'name', 'connected', 'unread']

export function renderProfessionals(chat: Chat, reader: Reader): string[] {
  if (chat.kind !== 'answered') return []
  const { professionals, unreadable } = chat
  const missing = unreadable === 0 ? [] : [`  ${unreadable} more could not be read`]
  if (professionals.length === 0)
    return ["the token's user sees no professional: check its ml_group_name", ...missing]
  const rows = professionals
    .slice(0, MOST_ROWS)
    .map((each) => [
      `  ${renderVisible(specialityOf(each), LONGEST_SPECIALITY)}`,
      renderVisible(each.name ?? '–'),
      renderConnected(each, reader),
      each.room === null ? '–' : String(each.unreadMessages ?? '?'),
    ])
  const beyond = professionals.length - rows.length
  return [
    `professionals that the token's user sees (times in ${reader.timeZone})`,
    ...columns([HEAD, ...rows]),
    ...(beyond > 0 ? [`  ${beyond} more are not shown (--json lists them all)`] : []),
    ...missing,
  ]
}

function specialityOf({ speciality, specialityId }: ListedProfessional): string {
  return speciality ?? (specialityId === null ? '–' : `number ${specialityId}`)
}

/** Section 2.2: `next_connection_at` is null when already connected, `next_disconnection_at` when not. */
function renderConnected(each: ListedProfessional, { now, timeZone }: Reader): string {
  const { nextConnectionAt: from, nextDisconnectionAt: until } = each
  if (isOnline(each)) return until === null ? 'now' : `now, until ${nearTime(until, now, timeZone)}`
  if (from === null) return 'not known'
  const wait = from.getTime() - now.getTime()
  return `${nearTime(from, now, timeZone)}${wait > 0 ? `, in ${span(wait)}` : ''}`
}

/** With these the table fits eighty columns: the longest time has 29, unread 6, and there are four gaps of two. */
const LONGEST_SPECIALITY = 10
const LONGEST_NAME = 27

/** Names come from outside: nothing in them may move the cursor or turn the writing round. */
export function renderVisible(text: string, longest = LONGEST_NAME): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const letters = [...plain]
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : plain
}
