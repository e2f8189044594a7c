// Sections 4.3 to 4.6: the server-to-server endpoints. What the document does not show is the contract's.
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { normalForm } from '../../model/normal.ts'
import {
  type CreateWire,
  createBodySchema,
  retrievedUser,
  type UpdateWire,
  updateBody,
  type WireProblems,
  wireProblems,
} from '../../service/schema.ts'
import { type AnswerBody, json, refuse, type SandboxAnswer } from '../answer.ts'
import type { Contract, LiveContract } from '../contract/contract.ts'
import {
  addRoutes,
  type Group,
  makeServe,
  type Refusal,
  type Route,
  type SandboxCall,
  type ServeParts,
} from '../serve.ts'
import { isBlank, type LiveUsers, retrievedForm, type StoredUser } from './users.ts'

export type Credentials = { readonly apiKey: string; readonly secretKey: string }

type Store = { readonly users: LiveUsers; readonly contract: Contract }

const USERS = '/s2s/v1/users'
const BY_ID = {
  path: `${USERS}/:user_id`,
  params: z.object({ user_id: createBodySchema.shape.user_id }),
  status: 200,
  returns: retrievedUser,
}
const NOT_SHOWN = 'The answer is not shown; here it is the user as a retrieve shows it.'
const ON_UPDATE: readonly Refusal[] = [400, 401, 403, 404, 409, 410, 413, 422]

export const USER_ROUTES: readonly Route<Store>[] = [
  {
    method: 'POST',
    path: USERS,
    operationId: 'createUser',
    summary: 'Create user',
    description: `Section 4.3. Registers a user, who can then authenticate to the SDKs. ${NOT_SHOWN}`,
    body: createBodySchema,
    status: 201,
    returns: retrievedUser,
    refusals: [400, 401, 403, 409, 413, 422],
    run: guarded(createUser),
  },
  {
    ...BY_ID,
    method: 'GET',
    operationId: 'retrieveUser',
    summary: 'Retrieve user',
    description: 'Section 4.4. Every field but `country_code`. The answer for an unknown user is not shown.',
    refusals: [400, 401, 403, 404, 410],
    run: guarded(({ users, contract }, { userId }) => {
      const user = users.seen(userId)
      return user === undefined ? unknownUser(contract) : json(200, retrievedForm(user, contract))
    }),
  },
  {
    ...BY_ID,
    method: 'PUT',
    operationId: 'replaceUser',
    summary: 'Full update',
    description: `Section 4.5. The body is the complete set: a field that is absent is cleared. ${NOT_SHOWN}`,
    body: updateBody,
    refusals: ON_UPDATE,
    run: guarded((store, call) => update(store, call, 'set')),
  },
  {
    ...BY_ID,
    method: 'PATCH',
    operationId: 'updateUser',
    summary: 'Partial update',
    description: `Section 4.6. Changes only the fields of the body; \`status\` is required all the same. ${NOT_SHOWN}`,
    body: updateBody,
    refusals: ON_UPDATE,
    run: guarded((store, call) => update(store, call, 'edit')),
  },
]

type Parts = {
  readonly serving: ServeParts
  readonly credentials: Credentials
  readonly users: LiveUsers
  readonly contract: LiveContract
}

export function addServerToServer(
  app: FastifyInstance,
  { serving, credentials, users, contract }: Parts,
): void {
  const serve = makeServe(serving, makeGroup(credentials))
  addRoutes(app, USER_ROUTES, { serve, prepare: () => ({ users, contract: contract.now }) })
}

function makeGroup({ apiKey, secretKey }: Credentials): Group {
  return {
    userIdOf: ({ params }, body) => userIdIn(params) ?? userIdIn(body),
    authorise: ({ headers }) =>
      headers['api-key'] === apiKey && headers['secret-key'] === secretKey
        ? null
        : refuse(401, 'unauthorized', 'Api-Key or Secret-Key is missing or wrong.'),
  }
}

function userIdIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('user_id' in value)) return null
  return typeof value.user_id === 'string' ? value.user_id : null
}

/** First of all: is the user forbidden, and is there a body to go by? */
function guarded(run: Route<Store>['run']): Route<Store>['run'] {
  return (store, call) => {
    const { contract } = store
    if (contract.forbidden !== null && call.userId.includes(contract.forbidden)) {
      return refuse(403, 'forbidden', 'This user may not be managed with these keys.')
    }
    if (call.unreadable === null) return run(store, call)
    const { refusal } = contract
    return refusal === 'details' ? refuse(400, 'bad_request', call.unreadable) : terse(refusal)
  }
}

function createUser(store: Store, { body }: SandboxCall): SandboxAnswer {
  const { users, contract } = store
  const read = createBodySchema.safeParse(body)
  if (!read.success) return unfit(contract, wireProblems(read.error))
  const { user_id: userId, ...fields } = read.data
  if (isUnwanted(contract, fields)) return unwanted(contract)
  if (users.get(userId) !== undefined && contract.duplicate !== 'upsert') {
    return duplicate(contract, contract.duplicate)
  }
  if (isTaken(store, userId, fields)) return taken(contract)
  return carriedOut(store, 'create', users.write(userId, fields, 'set'))
}

function update(store: Store, { userId, body }: SandboxCall, how: 'set' | 'edit'): SandboxAnswer {
  const { users, contract } = store
  if (users.get(userId) === undefined) return unknownUser(contract)
  const read = updateBody.safeParse(body)
  if (!read.success) return unfit(contract, wireProblems(read.error))
  if (isUnwanted(contract, read.data)) return unwanted(contract)
  if (isTaken(store, userId, read.data)) return taken(contract)
  return carriedOut(store, 'update', users.write(userId, read.data, how))
}

type Fields = Omit<CreateWire, 'user_id'> | UpdateWire

/** A value that fits section 2.6 and that the contract refuses. */
function isUnwanted({ refuses }: Contract, fields: Fields): boolean {
  return refuses !== 'nothing' && !isBlank(fields[refuses] ?? null)
}

function unwanted(contract: Contract): SandboxAnswer {
  return unfit(contract, { [contract.refuses]: 'no value: this service takes none' })
}

/** Compares what is held, which a GET may not show yet, in normal form, as unique indexes commonly do. */
function isTaken({ users, contract: { unique } }: Store, userId: string, fields: Fields): boolean {
  if (unique === 'nothing') return false
  const wanted = normalForm(unique, fields[unique])
  const others = users.all().filter((user) => user.user_id !== userId)
  return wanted !== null && others.some((user) => normalForm(unique, user[unique]) === wanted)
}

function carriedOut({ contract }: Store, what: 'create' | 'update', user: StoredUser): SandboxAnswer {
  const status = what === 'create' ? contract.createStatus : contract.updateStatus
  const kind = what === 'create' ? contract.createBody : contract.updateBody
  return { status, body: status === 204 ? { kind: 'none' } : bodyOf(kind, user, contract), stored: true }
}

type BodyKind = Contract['createBody' | 'updateBody']

function bodyOf(kind: BodyKind, user: StoredUser, contract: Contract): AnswerBody {
  if (kind === 'none') return { kind: 'none' }
  const { user_id } = user
  const values = { user: retrievedForm(user, contract), id: { user_id }, ok: { ok: true }, null: null }
  return { kind: 'json', value: values[kind] }
}

function unknownUser({ unknownUser: status }: Contract): SandboxAnswer {
  return status === 'null'
    ? json(200, null)
    : refuse(status, 'not_found', 'There is no user with this user_id.')
}

/** A 400 looks like every other refusal of a body, so that a caller cannot tell them apart. */
function duplicate({ refusal }: Contract, status: 409 | 422 | 400): SandboxAnswer {
  const message = 'There is a user with this user_id.'
  if (status === 409) return refuse(409, 'conflict', message)
  if (status === 422) return refuse(422, 'invalid', message, { user_id: 'one that is not in use' })
  return terse(refusal)
}

function unfit({ refusal }: Contract, fields: WireProblems): SandboxAnswer {
  return refusal === 'details'
    ? refuse(422, 'invalid', 'The body does not fit section 2.6.', fields)
    : terse(refusal)
}

function taken({ refusal, unique }: Contract): SandboxAnswer {
  return refusal === 'details'
    ? refuse(409, 'conflict', 'Another user has this value.', { [unique]: 'one that no other user has' })
    : terse(refusal, { status: 409, reason: 'Conflict' })
}

/** The body of frameworks that give no reason, or the page of a web server. */
function terse(
  refusal: Contract['refusal'],
  { status, reason } = { status: 400, reason: 'Bad Request' },
): SandboxAnswer {
  if (refusal !== 'html') return json(status, { error: reason })
  return { status, body: { kind: 'html', title: `${status} ${reason}` }, stored: false }
}
