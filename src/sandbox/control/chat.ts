// Control endpoints of the chat: tokens, professionals, and what is said in the rooms.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { MESSAGE_STATUSES } from '../../service/chat.ts'
import { fileMessage, imageMessage, textMessage } from '../../service/chat-schema.ts'
import { json, refuse } from '../answer.ts'
import type { Added, Conversations, Draft, Pair } from '../chat/conversations.ts'
import { makeDrafts } from '../chat/filling.ts'
import { type Professionals, professionalList } from '../chat/professionals.ts'
import type { Tokens } from '../chat/tokens.ts'
import type { Clock } from '../clock.ts'
import { send } from '../send.ts'
import { whole } from '../told.ts'
import type { SandboxUsers } from '../users/users.ts'
import { listOrShown, withBody } from './body.ts'
import { momentOrUtc } from './clock.ts'

export type ChatControlParts = {
  readonly users: SandboxUsers
  readonly clock: Clock
  readonly tokens: Tokens
  readonly professionals: Professionals
  readonly conversations: Conversations
}

const YEAR_S = 365 * 86_400
/** More than that at once would be kept from other callers for too long. */
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
  addTokens(control, parts)
  addProfessionals(control, parts.professionals)
  addConversations(control, parts)
}

/** How the service issues tokens is not shown (section 5); who it registered can have one (section 1). */
function addTokens(control: FastifyInstance, { users, tokens }: ChatControlParts): void {
  control.post(
    '/tokens',
    withBody(tokenBody, async ({ user_id: userId, expires_in: seconds }, reply) => {
      if (users.get(userId) === undefined) {
        return send(reply, refuse(404, 'not_found', 'Only a registered user can have a token.'))
      }
      const { token, expiresAt } = await tokens.issue(userId, { expiresInMs: seconds * 1000 })
      const issued = {
        token,
        token_type: 'Bearer',
        user_id: userId,
        expires_at: new Date(expiresAt).toISOString(),
      }
      return send(reply, json(201, issued))
    }),
  )
}

function addProfessionals(control: FastifyInstance, professionals: Professionals): void {
  control.get('/professionals', () => ({ professionals: professionals.all() }))
  control.put(
    '/professionals',
    withBody(listOrShown('professionals', professionalList), (list) => {
      professionals.set(list)
      return { professionals: professionals.all() }
    }),
  )
}

function addConversations(control: FastifyInstance, parts: ChatControlParts): void {
  const { conversations, clock } = parts
  control.post(
    '/messages',
    withBody(messageBody, ({ user_id: userId, professional_id: professionalId, ...message }, reply) => {
      const { from, status, created_at: at, ...content } = message
      const draft = { from, status, content, ...(at === undefined ? {} : { at }) }
      return addTo(
        { parts, pair: { userId, professionalId }, drafts: [draft], reply },
        ({ messages }) => messages[0],
      )
    }),
  )
  control.post(
    '/conversations',
    withBody(fillBody, ({ user_id: userId, professional_id: professionalId, messages: count }, reply) => {
      const drafts = makeDrafts(count, clock.now())
      return addTo({ parts, pair: { userId, professionalId }, drafts, reply }, ({ room, messages }) => ({
        room: room.id,
        messages: messages.length,
      }))
    }),
  )
  control.post<{ Params: { id: string } }>('/rooms/:id/read', ({ params: { id } }, reply) => {
    const room = /^\d+$/.test(id) ? Number(id) : Number.NaN
    const marked = conversations.markRead(room)
    if (marked === undefined) return send(reply, refuse(404, 'not_found', 'There is no such room.'))
    return { room, marked }
  })
}

type Adding = {
  readonly parts: ChatControlParts
  readonly pair: Pair
  readonly drafts: readonly Draft[]
  readonly reply: FastifyReply
}

function addTo({ parts, pair, drafts, reply }: Adding, show: (added: Added) => unknown): unknown {
  const { users, professionals, conversations } = parts
  if (users.get(pair.userId) === undefined) {
    return send(reply, refuse(404, 'not_found', 'There is no such user.'))
  }
  if (professionals.get(pair.professionalId) === undefined) {
    return send(reply, refuse(404, 'not_found', 'There is no such professional.'))
  }
  const added = conversations.add(pair, drafts)
  return send(reply, added.kind === 'full' ? FULL : json(201, show(added)))
}

const FULL = refuse(409, 'conflict', 'There is no room for more messages: DELETE /_sandbox/conversations.')
