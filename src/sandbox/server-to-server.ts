// The routes of sections 4.3 to 4.6 and their credentials (section 5).
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuse } from './answer.ts'
import { createUser, replaceUser, retrieveUser, updateUser } from './operations.ts'
import { type Group, makeServe, type ServeParts } from './serve.ts'
import type { SandboxUsers } from './users.ts'

export type Credentials = { readonly apiKey: string; readonly secretKey: string }

const USERS = '/s2s/v1/users'

type Parts = {
  readonly serving: ServeParts
  readonly credentials: Credentials
  readonly users: SandboxUsers
}

export function addServerToServer(app: FastifyInstance, { serving, credentials, users }: Parts): void {
  const serve = makeServe(serving, makeGroup(credentials))
  app.post(USERS, (request, reply) => serve(request, reply, ({ body }) => createUser(users, body)))
  app.get(`${USERS}/:user_id`, (request, reply) =>
    serve(request, reply, ({ userId }) => retrieveUser(users, userId)),
  )
  app.put(`${USERS}/:user_id`, (request, reply) =>
    serve(request, reply, ({ userId, body }) => replaceUser(users, userId, body)),
  )
  app.patch(`${USERS}/:user_id`, (request, reply) =>
    serve(request, reply, ({ userId, body }) => updateUser(users, userId, body)),
  )
}

function makeGroup({ apiKey, secretKey }: Credentials): Group {
  return {
    userIdOf: ({ params }: FastifyRequest, body) => {
      if (holdsUserId(params)) return params.user_id
      return holdsUserId(body) ? body.user_id : null
    },
    authorise: ({ headers }) =>
      headers['api-key'] === apiKey && headers['secret-key'] === secretKey
        ? null
        : refuse(401, 'unauthorized', 'Api-Key or Secret-Key is missing or wrong.'),
  }
}

function holdsUserId(value: unknown): value is { readonly user_id: string } {
  return (
    typeof value === 'object' && value !== null && 'user_id' in value && typeof value.user_id === 'string'
  )
}
