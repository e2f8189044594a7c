// Control endpoints of the chat: tokens, professionals and conversations.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { MESSAGE_STATUSES } from '../../service/chat.ts'
import { fileMessage, imageMessage, textMessage } from '../../service/chat-schema.ts'
import { json, refuse, type SandboxAnswer, send } from '../answer.ts'
import { type Added, type Conversations, type Draft, makeDrafts, type Pair } from '../chat/conversations.ts'
import { type Professionals, professionalList } from '../chat/professionals.ts'
import type { Tokens } from '../chat/tokens.ts'
import { inClockRange, type SandboxClock } from '../clock.ts'
import { whole } from '../problems.ts'
import type { SandboxUsers } from '../users/users.ts'
import { listOrShown, withBody } from './body.ts'

export type ChatControlParts = {
  readonly users: SandboxUsers
  readonly clock: SandboxClock
  readonly tokens: Tokens
  readonly professionals: Professionals
  readonly conversations: Conversations
}

const MOMENT = 'a moment from 1970 to 9989 with its zone, such as 2026-03-02T09:30:00Z'
/** As epoch milliseconds. */
export const moment = z.iso
  .datetime({ offset: true, error: MOMENT })
  .transform(Date.parse)
  .refine(inClockRange, MOMENT)
/** The same, or the form of section 2.1: UTC without a zone. */
const momentOrUtc = z.union(
  [
    moment,
    z.iso
      .datetime({ local: true, precision: 0 })
      .transform((text) => Date.parse(`${text}Z`))
      .refine(inClockRange),
  ],
  `${MOMENT}, or in UTC as the service writes it: 2026-03-02T09:30:00`,
)

const YEAR_S = 365 * 86_400
/** More than that at once would block other callers for too long. */
const MAX_FILL = 5000

const tokenBody = z.strictObject({
  user_id: z.string('a text'),
  expires_in: whole(0, YEAR_S, 'seconds').default(3600),
})

const pair = { user_id: z.string('a text'), professional_id: z.string('a text') }
const head = {
  ...pair,
  from: z.enum(['user', 'professional'], 'user or professional').default('professional'),
  status: z.enum(MESSAGE_STATUSES, MESSAGE_STATUSES.join(', ')).default('sent'),
  created_at: momentOrUtc.optional(),
}
const HEAD_OF_WIRE = {
  from_user_id: true,
  to_user_id: true,
  room_id: true,
  message_id: true,
  status: true,
  created_at: true,
} as const
const messageBody = z.discriminatedUnion(
  'type',
  [
    textMessage.omit(HEAD_OF_WIRE).extend(head),
    imageMessage.omit(HEAD_OF_WIRE).extend(head),
    fileMessage.omit(HEAD_OF_WIRE).extend(head),
  ],
  'text, image or file',
)
const fillBody = z.strictObject({ ...pair, messages: whole(1, MAX_FILL) })

export function addChatControl(control: FastifyInstance, parts: ChatControlParts): void {
  const { users, clock, tokens, professionals, conversations } = parts
  // How the service issues tokens is not shown (section 5); registered users can have one (section 1).
  control.post(
    '/tokens',
    withBody(tokenBody, async ({ user_id: userId, expires_in: seconds }, reply) => {
      if (users.get(userId) === undefined) return notFound(reply, 'Only a registered user can have a token.')
      const { token, expiresAt } = await tokens.issue(userId, { expiresInMs: seconds * 1000 })
      const times = { expires_at: new Date(expiresAt).toISOString() }
      return send(reply, json(201, { token, token_type: 'Bearer', user_id: userId, ...times }))
    }),
  )
  control.get('/professionals', () => ({ professionals: professionals.all() }))
  control.put(
    '/professionals',
    withBody(listOrShown('professionals', professionalList), (list) => {
      professionals.set(list)
      return { professionals: professionals.all() }
    }),
  )
  control.post(
    '/messages',
    withBody(messageBody, ({ user_id: userId, professional_id: professionalId, ...message }, reply) => {
      const { from, status, created_at: at, ...content } = message
      const draft = { from, status, content, ...(at === undefined ? {} : { at }) }
      const added = addTo(parts, { userId, professionalId }, [draft])
      return send(reply, 'status' in added ? added : json(201, added.messages[0]))
    }),
  )
  control.post(
    '/conversations',
    withBody(fillBody, ({ user_id: userId, professional_id: professionalId, messages: count }, reply) => {
      const added = addTo(parts, { userId, professionalId }, makeDrafts(count, clock.now()))
      if ('status' in added) return send(reply, added)
      return send(reply, json(201, { room: added.room.id, messages: added.messages.length }))
    }),
  )
  control.post<{ Params: { id: string } }>('/rooms/:id/read', ({ params: { id } }, reply) => {
    const room = /^\d+$/.test(id) ? Number(id) : Number.NaN
    const marked = conversations.markRead(room)
    return marked === undefined ? notFound(reply, 'There is no such room.') : { room, marked }
  })
}

function notFound(reply: FastifyReply, message: string): unknown {
  return send(reply, refuse(404, 'not_found', message))
}

function addTo(parts: ChatControlParts, pair: Pair, drafts: readonly Draft[]): Added | SandboxAnswer {
  const { users, professionals, conversations } = parts
  if (users.get(pair.userId) === undefined) return refuse(404, 'not_found', 'There is no such user.')
  if (professionals.get(pair.professionalId) === undefined) {
    return refuse(404, 'not_found', 'There is no such professional.')
  }
  const added = conversations.add(pair, drafts)
  if (added.kind === 'added') return added
  return refuse(409, 'conflict', 'There is no room for more messages: DELETE /_sandbox/conversations.')
}
