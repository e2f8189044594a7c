import { type Chat, inOrder, isOnline, totalsOf } from '../access/chat.ts'
import type { Bearer, Claims } from '../access/token.ts'
import { type Professional, SPECIALITIES } from '../service/chat.ts'
import { line } from './say-step.ts'
import { localTime, span } from './say-time.ts'

/** The clock and the time zone of whoever reads it. */
export type Reader = { readonly now: Date; readonly timeZone: string }

type Told = { readonly chat: Chat; readonly claims: Claims | null; readonly bearer: Bearer | null }

/** One line about the chat, as it bears on one customer. */
export function sayChat({ chat, claims, bearer }: Told, reader: Reader): string {
  const whose = bearer === 'another-user' ? 'the token names another user, so this is about that one: ' : ''
  return line('chat', `${whose}${sayAnswer(chat, claims, reader)}`)
}

function sayAnswer(chat: Chat, claims: Claims | null, { now }: Reader): string {
  const expired = claims?.expiresAt ? now.getTime() - claims.expiresAt : -1
  switch (chat.kind) {
    case 'not-asked':
      return chat.why === 'demo'
        ? 'not asked, and the token was not sent: chat exists on production only, and this is the demo service'
        : 'not asked: no access token was given (chat exists on production only)'
    case 'answered':
      return `answers (${sayTotals(chat.professionals)}; chat exists on production only)`
    case 'shut':
      return 'refused the user (403): no access, as a rule status 0 or a trial that is over (chat exists on production only)'
    case 'refused':
      return expired >= 0
        ? `refused the token (401): it expired ${span(expired)} ago (chat exists on production only)`
        : 'refused the token (401): expired, of another environment or Api-Key, or its user is not registered (chat exists on production only)'
    case 'failed':
      return `answered ${chat.status} and no list (chat exists on production only)`
    case 'no-answer':
      return `${chat.error} (chat exists on production only)`
    case 'no-permit':
      return 'not asked: the common pace gave no permit within ten seconds (chat exists on production only)'
    default:
      return chat satisfies never
  }
}

function sayTotals(professionals: readonly Professional[]): string {
  const { online, rooms, unread } = totalsOf(professionals)
  const count = professionals.length
  return `${count} ${count === 1 ? 'professional' : 'professionals'}, ${online} online, ${unread} unread in ${rooms} ${rooms === 1 ? 'room' : 'rooms'}`
}

/** Everybody whom the token's user sees, as a table; nothing where the chat gave no list. */
export function sayProfessionals(chat: Chat, reader: Reader): string[] {
  if (chat.kind !== 'answered') return []
  const { professionals, unreadable } = chat
  const missing = unreadable === 0 ? [] : [`  ${unreadable} more could not be read`]
  if (professionals.length === 0) {
    return ["professionals whom the token's user sees: none (ml_group_name decides who is seen)", ...missing]
  }
  const head = ['speciality', 'name', 'status', 'connected', 'unread']
  const rows = inOrder(professionals).map((each) => [
    sayVisible(speciality(each.specialityId)),
    sayVisible(each.name ?? '–'),
    sayVisible(each.status ?? '–'),
    sayConnected(each, reader),
    each.room === null ? '–' : String(each.room.unreadMessages ?? '?'),
  ])
  return [
    `professionals whom the token's user sees (times in ${reader.timeZone})`,
    ...table([head, ...rows]),
    ...missing,
  ]
}

function speciality(id: number | null): string {
  return id === null ? '–' : (SPECIALITIES.get(id) ?? `speciality ${id}`)
}

/** Section 2.2: `next_connection_at` is null when already connected, `next_disconnection_at` when not. */
function sayConnected(each: Professional, { now, timeZone }: Reader): string {
  const { nextConnectionAt: from, nextDisconnectionAt: until } = each
  if (isOnline(each)) return until === null ? 'now' : `now, until ${localTime(until, timeZone)}`
  if (from === null) return 'not said'
  const wait = from.getTime() - now.getTime()
  return `${localTime(from, timeZone)}${wait > 0 ? `, in ${span(wait)}` : ''}`
}

const LONGEST = 40

/** Names come from outside: nothing in them may move the cursor or turn the writing round. */
export function sayVisible(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const letters = [...plain]
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join('')}…` : plain
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
}
