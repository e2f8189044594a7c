// The six operations of sections 4.1 to 4.6 for the OpenAPI document.
import { z } from 'zod'
import { createBody } from '../../service/schema.ts'
import { DEFAULT_LIMIT, DEFAULT_OLDER, MAX_LIMIT } from '../chat/page.ts'
import { errors } from './errors.ts'
import {
  MESSAGES,
  PROFESSIONALS,
  REVOCATION,
  SHOWN_USER,
  SMALLEST_USER,
  WHOLE_UPDATE,
  WHOLE_USER,
} from './examples.ts'
import { type ComponentName, inlineSchema, type JsonSchema, ref } from './schemas.ts'

export const CHAT_TAG = 'Chat'
export const S2S_TAG = 'Server-to-server'

/** Section 5. */
const CHAT = { tags: [CHAT_TAG], security: [{ ApiKey: [], AccessToken: [] }] }
const S2S = { tags: [S2S_TAG], security: [{ ApiKey: [], SecretKey: [] }] }

const CREATED_OR_CHANGED =
  'What the service answers is not shown; the sandbox answers with the user as a retrieve shows it.'

/** @param chat what stands beside the operations of a chat path: its servers, where they are not those of all */
export function paths(chat: JsonSchema): JsonSchema {
  return {
    '/chat/message': { ...chat, get: listMessages() },
    '/chat/professionals': { ...chat, get: listProfessionals() },
    '/s2s/v1/users': { post: createUser() },
    '/s2s/v1/users/{user_id}': {
      parameters: [
        {
          name: 'user_id',
          in: 'path',
          required: true,
          description:
            "The integrator's identifier of the user, percent-encoded: a `/` in it stays inside its segment.",
          schema: inlineSchema(createBody.shape.user_id),
        },
      ],
      get: retrieveUser(),
      put: replaceUser(),
      patch: updateUser(),
    },
  }
}

function listMessages(): JsonSchema {
  return {
    ...CHAT,
    operationId: 'listMessages',
    summary: 'List messages of a room',
    description:
      'Section 4.1. The messages of a room, paged relative to a pivot message.\n\n' +
      'Not shown: which parameters are required, the default and the maximum of `limit`, the order of the answer, ' +
      'whether it holds the pivot. The sandbox asks for `room` alone and answers oldest first without the pivot. ' +
      'Without a pivot it begins at the end of the room that `older` leads away from.',
    parameters: [
      query('room', 'Room id.', z.int(), { required: true, example: 7 }),
      query('pivot', 'Id of the message used as offset.', z.string(), {
        example: MESSAGES[0]?.message_id,
      }),
      query(
        'limit',
        `Number of messages to retrieve; more than ${MAX_LIMIT} gives ${MAX_LIMIT}.`,
        z.int().min(1).default(DEFAULT_LIMIT),
        { example: DEFAULT_LIMIT },
      ),
      query(
        'older',
        'true: messages older than the pivot; false: newer ones.',
        z.boolean().default(DEFAULT_OLDER),
        { example: true },
      ),
    ],
    responses: {
      200: list('The messages.', 'Message', MESSAGES),
      ...errors('BadRequest', 'Unauthorized', 'NoAccess', 'NoRoom'),
    },
  }
}

function listProfessionals(): JsonSchema {
  return {
    ...CHAT,
    operationId: 'listProfessionals',
    summary: 'List available professionals',
    description:
      'Section 4.2. The professionals available to the user of the token, each with schedules and room. ' +
      '`ml_group_name` of the user decides which are seen.',
    responses: {
      200: {
        ...list('The professionals.', 'Professional', PROFESSIONALS),
        links: {
          messages: {
            operationId: 'listMessages',
            parameters: { room: '$response.body#/0/room/id' },
            description: "The messages of the first professional's room, where there is one.",
          },
        },
      },
      ...errors('Unauthorized', 'NoAccess'),
    },
  }
}

function createUser(): JsonSchema {
  return {
    ...S2S,
    operationId: 'createUser',
    summary: 'Create user',
    description: `Section 4.3. Registers a user, who can then authenticate to the SDKs. ${CREATED_OR_CHANGED}`,
    requestBody: body('CreateUser', {
      smallest: { summary: 'What is required', value: SMALLEST_USER },
      whole: { summary: 'Every field', value: WHOLE_USER },
    }),
    responses: {
      201: {
        ...json('The user was registered.', ref('User'), SHOWN_USER),
        links: Object.fromEntries(
          ['retrieveUser', 'replaceUser', 'updateUser'].map((operationId) => [
            operationId,
            { operationId, parameters: { user_id: '$request.body#/user_id' } },
          ]),
        ),
      },
      ...errors('BadRequest', 'Unauthorized', 'ForbiddenUser', 'Conflict', 'TooLarge', 'Invalid'),
    },
  }
}

function retrieveUser(): JsonSchema {
  return {
    ...S2S,
    operationId: 'retrieveUser',
    summary: 'Retrieve user',
    description:
      'Section 4.4. Every field but `country_code`. The answer for a user who is not registered is not shown.',
    responses: {
      200: json('The user.', ref('User'), SHOWN_USER),
      ...errors('BadRequest', 'Unauthorized', 'ForbiddenUser', 'NoUser', 'Gone'),
    },
  }
}

function replaceUser(): JsonSchema {
  return {
    ...S2S,
    operationId: 'replaceUser',
    summary: 'Full update',
    description: `Section 4.5. The body is the complete set: a field that it leaves out has no value afterwards. ${CREATED_OR_CHANGED}`,
    requestBody: body('UpdateUser', { whole: { summary: 'Every field', value: WHOLE_UPDATE } }),
    responses: updated(),
  }
}

function updateUser(): JsonSchema {
  return {
    ...S2S,
    operationId: 'updateUser',
    summary: 'Partial update',
    description: `Section 4.6. Only what the body names changes; \`status\` is required all the same. ${CREATED_OR_CHANGED}`,
    requestBody: body('UpdateUser', { revocation: { summary: 'Take access away', value: REVOCATION } }),
    responses: updated(),
  }
}

function updated(): JsonSchema {
  return {
    200: json('The user was changed.', ref('User'), SHOWN_USER),
    ...errors(
      'BadRequest',
      'Unauthorized',
      'ForbiddenUser',
      'NoUser',
      'Conflict',
      'Gone',
      'TooLarge',
      'Invalid',
    ),
  }
}

function query(name: string, description: string, schema: z.ZodType, more: JsonSchema): JsonSchema {
  return { name, in: 'query', description, schema: inlineSchema(schema), ...more }
}

function body(name: ComponentName, examples: JsonSchema): JsonSchema {
  return { required: true, content: { 'application/json': { schema: ref(name), examples } } }
}

function list(description: string, name: ComponentName, example: unknown): JsonSchema {
  return json(description, { type: 'array', items: ref(name) }, example)
}

function json(description: string, schema: JsonSchema, example: unknown): JsonSchema {
  return { description, content: { 'application/json': { schema, example } } }
}
