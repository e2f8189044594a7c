// The routes of sections 4.1 and 4.2 and their credentials (section 5). Whose call it is comes from the token.
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ProfessionalWire, RoomWire } from '../../service/chat-schema.ts'
import { wireProblems } from '../../service/schema.ts'
import { type Answer, json, refuse } from '../answer.ts'
import type { Clock } from '../clock.ts'
import type { Contract, LiveContract } from '../contract/contract.ts'
import { type Call, type Group, makeServe, type ServeParts } from '../serve.ts'
import type { SandboxUsers } from '../users/users.ts'
import { type Conversations, shownRoom } from './conversations.ts'
import { DEFAULT_LIMIT, DEFAULT_OLDER, MAX_LIMIT, pageOf } from './page.ts'
import { type Professionals, shownProfessional } from './professionals.ts'
import { bearerOf, claimedUser, type Tokens } from './tokens.ts'

export type ChatParts = {
  readonly serving: ServeParts
  readonly apiKey: string
  readonly users: SandboxUsers
  readonly contract: LiveContract
  readonly clock: Clock
  readonly tokens: Tokens
  readonly professionals: Professionals
  readonly conversations: Conversations
}

export function addChat(app: FastifyInstance, parts: ChatParts): void {
  const serve = makeServe(parts.serving, makeGroup(parts))
  app.get('/chat/message', (request, reply) => serve(request, reply, (call) => listMessages(parts, call)))
  app.get('/chat/professionals', (request, reply) =>
    serve(request, reply, (call) => listProfessionals(parts, call)),
  )
}

function makeGroup({ apiKey, users, tokens }: ChatParts): Group {
  return {
    userIdOf: ({ headers }) => {
      const token = bearerOf(headers.authorization)
      return token === null ? null : claimedUser(token)
    },
    async authorise({ headers }) {
      if (headers['api-key'] !== apiKey) return unauthorized('Api-Key is missing or wrong.')
      const token = bearerOf(headers.authorization)
      if (token === null) return unauthorized('Authorization must be Bearer and a token.')
      const check = await tokens.check(token)
      switch (check.kind) {
        case 'good':
          return refuseAccess(users.access(check.userId))
        case 'expired':
          return unauthorized('The token has expired.')
        case 'bad':
          return unauthorized('The token is none of this sandbox.')
        default:
          return check satisfies never
      }
    },
  }
}

/** Section 3, fact 2. A token outlives its user's registration, and then names nobody. */
function refuseAccess(access: ReturnType<SandboxUsers['access']>): Answer | null {
  switch (access) {
    case undefined:
      return unauthorized('The user of the token is not registered.')
    case 'none':
      return refuse(403, 'forbidden', 'The user has status 0: no access.')
    case 'trial-over':
      return refuse(403, 'forbidden', 'The trial of the user is over.')
    case 'full':
    case 'trial':
      return null
    default:
      return access satisfies never
  }
}

function unauthorized(message: string): Answer {
  return refuse(401, 'unauthorized', message)
}

const ROOM = 'an integer, once'
const LIMIT = 'an integer from 1, at most once'
const OLDER = 'true or false, at most once'

/** Neither default nor maximum of `limit` is shown (section 8), nor what is required. Other names mean nothing. */
const messageQuery = z.object({
  room: z
    .string(ROOM)
    .regex(/^-?\d+$/, ROOM)
    .transform(Number),
  pivot: z.string('the id of a message, at most once').optional(),
  limit: z
    .string(LIMIT)
    .regex(/^0*[1-9]\d*$/, LIMIT)
    .transform((text) => Math.min(Number(text), MAX_LIMIT))
    .default(DEFAULT_LIMIT),
  older: z
    .enum(['true', 'false'], OLDER)
    .transform((text) => text === 'true')
    .default(DEFAULT_OLDER),
})

/** Section 4.1. A room of somebody else is answered like one that does not exist. */
function listMessages({ conversations, contract }: ChatParts, { userId, query }: Call): Answer {
  const read = messageQuery.safeParse(query)
  if (!read.success) {
    return refuse(400, 'bad_request', 'The query does not fit section 4.1.', wireProblems(read.error))
  }
  const room = conversations.room(read.data.room)
  if (room?.userId !== userId) return refuse(404, 'not_found', 'There is no such room of this user.')
  const page = pageOf(room.messages, read.data, contract.now)
  return page === null ? refuse(404, 'not_found', 'The room has no such pivot message.') : json(200, page)
}

/** Section 4.2. `ml_group_name` decides who is seen (2.6); `md_group_name` is the other platform's. */
function listProfessionals(parts: ChatParts, { userId }: Call): Answer {
  const { users, professionals, conversations, contract, clock } = parts
  const group = users.get(userId)?.ml_group_name ?? null
  const now = clock.now()
  const shown = professionals.seenBy(group === null ? null : String(group)).map((professional) => {
    const stored = conversations.between({ userId, professionalId: professional.professional_id })
    const room = stored === undefined ? null : shownRoom(stored)
    return inContract(shownProfessional(professional, { room, now }), contract.now)
  })
  return json(200, shown)
}

/** The names and the room's id as the field tables have them, or as the document's sample does (2.2 and 2.5). */
function inContract(shown: ProfessionalWire, { names, roomId }: Contract): object {
  const room = shown.room === null ? null : inRoomForm(shown.room, roomId)
  if (names === 'table') return { ...shown, room }
  const { photo: avatar, speciality_id: speciality, ...rest } = shown
  return { ...rest, avatar, speciality, room }
}

function inRoomForm(room: RoomWire, form: Contract['roomId']): object {
  return form === 'text' ? { ...room, id: String(room.id) } : room
}
