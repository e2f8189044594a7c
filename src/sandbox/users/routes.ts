// The routes of sections 4.3 to 4.6 and their credentials (section 5).
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuse } from '../answer.ts'
import type { LiveContract } from '../contract/contract.ts'
import { type Group, makeServe, type Operation, type ServeParts } from '../serve.ts'
import { carryOut, createUser, type Decide, replaceUser, retrieveUser, updateUser } from './operations.ts'
import type { LiveUsers } from './users.ts'

export type Credentials = { readonly apiKey: string; readonly secretKey: string }

const USERS = '/s2s/v1/users'

type Parts = {
  readonly serving: ServeParts
  readonly credentials: Credentials
  readonly users: LiveUsers
  readonly contract: LiveContract
}

export function addServerToServer(app: FastifyInstance, parts: Parts): void {
  const { serving, credentials, users, contract } = parts
  const serve = makeServe(serving, makeGroup(credentials))
  /** The contract of a call is the one in force when it is carried out, after whatever it waited for. */
  const operation = (decide: Decide): Operation => {
    return (call) => carryOut({ users, contract: contract.now }, call, decide)
  }
  app.post(USERS, (request, reply) => serve(request, reply, operation(createUser)))
  app.get(`${USERS}/:user_id`, (request, reply) => serve(request, reply, operation(retrieveUser)))
  app.put(`${USERS}/:user_id`, (request, reply) => serve(request, reply, operation(replaceUser)))
  app.patch(`${USERS}/:user_id`, (request, reply) => serve(request, reply, operation(updateUser)))
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
