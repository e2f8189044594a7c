// components/responses of the OpenAPI document: the refusals, in the sandbox's form. Section 7: not shown.
import { type ErrorCode, errorBody } from '../answer.ts'
import { type JsonSchema, ref } from './schemas.ts'

type Refusal = {
  readonly status: number
  readonly code: ErrorCode
  readonly description: string
  /** As in the example. */
  readonly message: string
  readonly fields?: Readonly<Record<string, string>>
}

const REFUSALS = {
  BadRequest: {
    status: 400,
    code: 'bad_request',
    description: 'The address, the query or the body cannot be read.',
    message: 'The body is not JSON.',
  },
  Unauthorized: {
    status: 401,
    code: 'unauthorized',
    description: 'Credentials are missing, wrong or expired (section 5).',
    message: 'Api-Key or Secret-Key is missing or wrong.',
  },
  NoAccess: {
    status: 403,
    code: 'forbidden',
    description: 'The user has no access now: status 0, or a trial that is over (section 3, fact 2).',
    message: 'The user has no access.',
  },
  ForbiddenUser: {
    status: 403,
    code: 'forbidden',
    description:
      'The credentials are good, but not for this user. Only where the sandbox is told to refuse one.',
    message: 'Not for this user.',
  },
  NoRoom: {
    status: 404,
    code: 'not_found',
    description: 'The user has no such room, or the room no such pivot message.',
    message: 'There is no such room.',
  },
  NoUser: {
    status: 404,
    code: 'not_found',
    description: 'Nobody is registered under this `user_id`.',
    message: 'There is no user with this user_id.',
  },
  Conflict: {
    status: 409,
    code: 'conflict',
    description:
      'Somebody is registered under this `user_id`. Or another user has the e-mail address, where the sandbox is told to take each once.',
    message: 'There is a user with this user_id.',
  },
  Gone: {
    status: 410,
    code: 'not_found',
    description: 'As 404, where the sandbox is told to say it so.',
    message: 'There is no user with this user_id.',
  },
  TooLarge: {
    status: 413,
    code: 'too_large',
    description: 'The body is larger than 64 KiB.',
    message: 'The body is too large.',
  },
  Invalid: {
    status: 422,
    code: 'invalid',
    description:
      'The body is JSON, but does not fit section 2.6; `fields` says what was expected of each field.',
    message: 'The body does not fit section 2.6.',
    fields: { email: 'an e-mail address' },
  },
} as const satisfies Readonly<Record<string, Refusal>>
export type RefusalName = keyof typeof REFUSALS

/** By status, as they stand in an operation. */
export function errors(...names: readonly RefusalName[]): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [REFUSALS[name].status, { $ref: `#/components/responses/${name}` }]),
  )
}

export function errorResponses(): JsonSchema {
  return Object.fromEntries(Object.entries(REFUSALS).map(([name, refusal]) => [name, response(refusal)]))
}

function response({ description, code, message, fields }: Refusal): JsonSchema {
  const example = errorBody(code, message, fields)
  return { description, content: { 'application/json': { schema: ref('Error'), example } } }
}
