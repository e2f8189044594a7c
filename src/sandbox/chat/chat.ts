// Sections 4.1 and 4.2: the chat endpoints and their credentials (section 5). The token says who calls.
import * as z from 'zod'
import { message, type ProfessionalWire, professional } from '../../service/chat-schema.ts'
import { json, refuse, type SandboxAnswer } from '../answer.ts'
import type { Contract } from '../contract/contract.ts'
import { problemsOf } from '../problems.ts'
import type { Group, Route, SandboxCall, Store } from '../serve.ts'
import type { SandboxUsers } from '../users/users.ts'
import { DEFAULT_LIMIT, MAX_LIMIT, pageOf, shownRoom } from './conversations.ts'
import { shownProfessional } from './professionals.ts'
import { bearerOf, claimedUser, type Tokens } from './tokens.ts'

const LIMIT = 'an integer from 1, at most once'

/** Neither default nor maximum of `limit` is shown (section 8), nor what is required. Other names mean nothing. */
const messageQuery = z.object({
  room: z.preprocess(
    readInteger,
    z.number('an integer, once').meta({ type: 'integer', description: 'Room id.' }),
  ),
  pivot: z
    .string('the id of a message, at most once')
    .optional()
    .meta({ description: 'Id of the message used as offset.' }),
  limit: z
    .preprocess(readInteger, z.number(LIMIT).min(1, LIMIT).meta({ type: 'integer' }))
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .default(DEFAULT_LIMIT)
    .meta({
      description: `Number of messages to retrieve; ${DEFAULT_LIMIT} when absent, more than ${MAX_LIMIT} gives ${MAX_LIMIT}.`,
    }),
  older: z
    .preprocess(
      (text) => (text === 'true' ? true : text === 'false' ? false : text),
      z.boolean('true or false, at most once'),
    )
    .default(true)
    .meta({ description: 'true (when absent too): messages older than the pivot; false: newer ones.' }),
})

export const CHAT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/chat/message',
    operationId: 'listMessages',
    summary: 'List messages of a room',
    description:
      'Section 4.1. The messages of a room, paged relative to a pivot message. Not shown: required parameters, ' +
      'default and maximum of `limit`, the order, whether a page holds its pivot. The sandbox requires `room`, and ' +
      'answers oldest first without the pivot. Without a pivot it begins at the end that `older` leads away from.',
    query: messageQuery,
    status: 200,
    returns: z.array(message),
    refusals: [400, 401, 403, 404],
    run: listMessages,
  },
  {
    method: 'GET',
    path: '/chat/professionals',
    operationId: 'listProfessionals',
    summary: 'List available professionals',
    description:
      'Section 4.2. The professionals available to the user of the token, each with schedules and room. The ' +
      '`ml_group_name` of the user decides which.',
    status: 200,
    returns: z.array(professional),
    refusals: [401, 403],
    run: listProfessionals,
  },
]

type Credentials = { readonly apiKey: string; readonly tokens: Tokens }

export function makeChatGroup({ apiKey, tokens }: Credentials, users: SandboxUsers): Group {
  return {
    routes: CHAT_ROUTES,
    userIdOf: ({ headers }) => claimedUser(bearerOf(headers.authorization)),
    async authorise({ headers }) {
      if (headers['api-key'] !== apiKey) return unauthorized('Api-Key is missing or wrong.')
      const token = bearerOf(headers.authorization)
      if (token === null) return unauthorized('Authorization must be Bearer and a token.')
      const check = await tokens.check(token)
      if (check.kind === 'good') return refuseAccess(users.access(check.userId))
      const why = check.kind === 'expired' ? 'has expired' : 'was not issued by this sandbox'
      return unauthorized(`The token ${why}.`)
    },
  }
}

/** Section 3, fact 2. A token outlives the registration of its user. */
function refuseAccess(access: ReturnType<SandboxUsers['access']>): SandboxAnswer | null {
  if (access === undefined) return unauthorized('The user of the token is not registered.')
  if (access === 'none') return refuse(403, 'forbidden', 'The user has status 0: no access.')
  return access === 'trial-over' ? refuse(403, 'forbidden', 'The trial of the user is over.') : null
}

function unauthorized(message: string): SandboxAnswer {
  return refuse(401, 'unauthorized', message)
}

/** The room of another user is answered like one that does not exist. */
function listMessages({ conversations }: Store, { userId, query }: SandboxCall): SandboxAnswer {
  const read = messageQuery.safeParse(query)
  if (!read.success) {
    return refuse(400, 'bad_request', 'The query does not fit the interface (4.1).', problemsOf(read.error))
  }
  const room = conversations.room(read.data.room)
  if (room?.userId !== userId) return refuse(404, 'not_found', 'This user has no such room.')
  const page = pageOf(room.messages, read.data)
  return page === null ? refuse(404, 'not_found', 'The room has no such pivot message.') : json(200, page)
}

function readInteger(text: unknown): unknown {
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) return text
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(text)))
}

/** `ml_group_name` decides who is seen (2.6); `md_group_name` is the other platform's. */
function listProfessionals(store: Store, { userId }: SandboxCall): SandboxAnswer {
  const { users, professionals, conversations, contract, clock } = store
  const group = users.get(userId)?.ml_group_name ?? null
  const shown = professionals.seenBy(group === null ? null : String(group)).map((professional) => {
    const stored = conversations.between({ userId, professionalId: professional.professional_id })
    const room = stored === undefined ? null : shownRoom(stored)
    return inContract(shownProfessional(professional, { room, now: clock.now() }), contract.now)
  })
  return json(200, shown)
}

/** The names and the id of the room as the field tables have them, or as the sample payload does (2.2 and 2.5). */
function inContract(shown: ProfessionalWire, { names, roomId }: Contract): object {
  const room = shown.room && { ...shown.room, id: roomId === 'text' ? String(shown.room.id) : shown.room.id }
  if (names === 'table') return { ...shown, room }
  const { photo: avatar, speciality_id: speciality, ...rest } = shown
  return { ...rest, avatar, speciality, room }
}
