import { type Chat, inOrder, isOnline, totalsOf } from '../explain/chat.ts'
import type { Bearer, Claims } from '../explain/token.ts'
import { isLoopback } from '../service/address.ts'
import { type Professional, SPECIALITIES } from '../service/chat.ts'
import { labelled, nearTime, span, TERMINAL_COLUMNS, wrapped } from './render.ts'
import { sayCallError } from './say-step.ts'

/** The clock and the time zone of whoever reads it. */
export type Reader = { readonly now: Date; readonly timeZone: string }

type Told = { readonly chat: Chat; readonly claims: Claims | null; readonly bearer: Bearer | null }

const WHOSE: Readonly<Record<Bearer, string>> = {
  'this-user': '',
  'another-user': 'the token names another of these customers, so this is about that one: ',
  'named-otherwise': "the token names its user differently, so it may be another user's: ",
  unsaid: 'the token does not say whose it is: ',
}

/** What the chat answered, as it bears on one customer. */
export function renderChat({ chat, claims, bearer }: Told, reader: Reader): string[] {
  const whose = bearer === null || chat.kind === 'not-asked' ? '' : WHOSE[bearer]
  return wrapped('chat', `${whose}${sayAnswer(chat, claims, reader)}`)
}

/** Where there is a chat at all (section 4), once for all customers. */
export function renderChatNote(origin: string, environment: 'production' | 'demo'): string {
  if (isLoopback(new URL(origin).hostname))
    return labelled('note', 'chat exists on production only; this is a stand-in on this machine')
  const demo = environment === 'demo' ? '; this is the demo service' : ''
  return labelled('note', `chat exists on production only${demo}`)
}

function sayAnswer(chat: Chat, claims: Claims | null, { now }: Reader): string {
  const expired = claims?.expiresAt ? now.getTime() - claims.expiresAt : -1
  switch (chat.kind) {
    case 'not-asked':
      return NOT_ASKED[chat.why]
    case 'answered':
      return `answers: ${sayTotals(chat.professionals)}`
    case 'shut':
      return 'refused the user (403): no access, as a rule status 0 or a trial that is over'
    case 'refused':
      return expired >= 0
        ? `refused the token (401): it expired ${span(expired)} ago`
        : 'refused the token (401): expired, of another environment or Api-Key, or its user is not registered'
    case 'no-answer':
      return chat.error === null ? `answered ${chat.http} and no list` : sayCallError(chat.error)
    default:
      return chat satisfies never
  }
}

const NOT_ASKED: Readonly<Record<Extract<Chat, { kind: 'not-asked' }>['why'], string>> = {
  demo: 'not asked: a token is not sent to the demo service',
  'no-token': 'not asked: no access token was given',
  'gave-up': 'not asked: the service does not answer',
  'no-permit': 'not asked: the common pace gave no permit within ten seconds',
}

function sayTotals(professionals: readonly Professional[]): string {
  const { online, rooms, unread } = totalsOf(professionals)
  const count = professionals.length
  return `${count} ${count === 1 ? 'professional' : 'professionals'}, ${online} online, ${unread} unread in ${rooms} ${rooms === 1 ? 'room' : 'rooms'}`
}

/** More would scroll away what is said before them. */
const MOST_ROWS = 200

/** Whom the token's user sees, as a table; nothing where the chat gave no list. */
export function renderProfessionals(chat: Chat, reader: Reader): string[] {
  if (chat.kind !== 'answered') return []
  const { professionals, unreadable } = chat
  const missing = unreadable === 0 ? [] : [`  ${unreadable} more could not be read`]
  if (professionals.length === 0) {
    return ["professionals the token's user sees: none (ml_group_name decides who is seen)", ...missing]
  }
  const head: Cells = ['speciality', 'name', 'connected', 'unread']
  const rows = inOrder(professionals)
    .slice(0, MOST_ROWS)
    .map(
      (each): Cells => [
        sayVisible(speciality(each.specialityId), LONGEST_SPECIALITY),
        sayVisible(each.name ?? '–'),
        sayConnected(each, reader),
        each.room === null ? '–' : String(each.room.unreadMessages ?? '?'),
      ],
    )
  const beyond = professionals.length - rows.length
  return [
    `professionals the token's user sees (times in ${reader.timeZone})`,
    ...table([head, ...rows]),
    ...(beyond > 0 ? [`  ${beyond} more are not shown (--json lists them all)`] : []),
    ...missing,
  ]
}

function speciality(id: number | null): string {
  return id === null ? '–' : (SPECIALITIES.get(id) ?? `speciality ${id}`)
}

/** Section 2.2: `next_connection_at` is null when already connected, `next_disconnection_at` when not. */
function sayConnected(each: Professional, { now, timeZone }: Reader): string {
  const { nextConnectionAt: from, nextDisconnectionAt: until } = each
  if (isOnline(each)) return until === null ? 'now' : `now, until ${nearTime(until, now, timeZone)}`
  if (from === null) return 'not said'
  const wait = from.getTime() - now.getTime()
  return `${nearTime(from, now, timeZone)}${wait > 0 ? `, in ${span(wait)}` : ''}`
}

const LONGEST = 40
const LONGEST_SPECIALITY = 16

/** Names come from outside: nothing in them may move the cursor or turn the writing round. */
export function sayVisible(text: string, longest = LONGEST): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return shortened(plain, longest)
}

function shortened(text: string, longest: number): string {
  const letters = [...text]
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : text
}

type Cells = readonly [speciality: string, name: string, connected: string, unread: string]

const GAP = '  '

/** Names give way where the others leave them too little of the line. */
function table(rows: readonly Cells[]): string[] {
  const others = [0, 2, 3].reduce((sum, at) => sum + widest(rows, at) + GAP.length, GAP.length)
  const fitting = rows.map(([first, name, ...rest]) => [
    first,
    shortened(name, TERMINAL_COLUMNS - others),
    ...rest,
  ])
  const widths = [0, 1, 2, 3].map((at) => widest(fitting, at))
  return fitting.map((row) =>
    `${GAP}${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(GAP)}`.trimEnd(),
  )
}

function widest(rows: readonly (readonly string[])[], at: number): number {
  return rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0)
}
