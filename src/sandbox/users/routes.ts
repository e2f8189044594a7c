// Sections 4.3 to 4.6: the server-to-server endpoints. The contract decides what the document does not show.
import { STATUS_CODES } from 'node:http'
import * as z from 'zod'
import { normalForm } from '../../model/normal.ts'
import type { OptionalField } from '../../model/user.ts'
import { isRecord } from '../../model/values.ts'
import { createBodySchema, retrievedUser, updateBody } from '../../service/schema.ts'
import { html, json, refuse, type SandboxAnswer } from '../answer.ts'
import type { Contract } from '../contract/contract.ts'
import { type Problems, problemsOf } from '../problems.ts'
import type { Group, Refusal, Route } from '../serve.ts'
import { isBlank, retrievedForm, type SandboxUsers, type UserEdit } from './users.ts'

const USERS = '/s2s/v1/users'
const BY_ID = {
  path: `${USERS}/:user_id`,
  params: z.object({ user_id: createBodySchema.shape.user_id }),
  status: 200,
  returns: retrievedUser,
}
const NOT_SHOWN = 'The answer is not shown; here it is the user as a retrieve shows it.'
const ON_UPDATE: readonly Refusal[] = [400, 401, 403, 404, 409, 410, 413, 422]

export const USER_ROUTES: readonly Route[] = [
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
    run: write('create'),
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
      return user === undefined ? unknownUser(contract.now) : json(200, retrievedForm(user, contract.now))
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
    run: write('set'),
  },
  {
    ...BY_ID,
    method: 'PATCH',
    operationId: 'updateUser',
    summary: 'Partial update',
    description: `Section 4.6. Changes only the fields of the body; \`status\` is required all the same. ${NOT_SHOWN}`,
    body: updateBody,
    refusals: ON_UPDATE,
    run: write('edit'),
  },
]

type Credentials = { readonly apiKey: string; readonly secretKey: string }

export function makeUserGroup({ apiKey, secretKey }: Credentials): Group {
  return {
    routes: USER_ROUTES,
    userIdOf: ({ params }, body) => userIdIn(params) ?? userIdIn(body),
    authorise: ({ headers }) =>
      headers['api-key'] === apiKey && headers['secret-key'] === secretKey
        ? null
        : refuse(401, 'unauthorized', 'Api-Key or Secret-Key is missing or wrong.'),
  }
}

function userIdIn(value: unknown): string | null {
  return isRecord(value) && typeof value.user_id === 'string' ? value.user_id : null
}

/** First of all: is the user forbidden, and is there a body to go by? */
function guarded(run: Route['run']): Route['run'] {
  return (store, call) => {
    const contract = store.contract.now
    if (contract.forbidden !== null && call.userId.includes(contract.forbidden)) {
      return refuse(403, 'forbidden', 'This user may not be managed with these keys.')
    }
    if (call.unreadable === null) return run(store, call)
    return refuseBody(contract, [400, 'bad_request', call.unreadable])
  }
}

/** PUT and PATCH ask first whether there is such a user, a create whether the body will do. */
function write(how: 'create' | 'set' | 'edit'): Route['run'] {
  const isCreate = how === 'create'
  return guarded(({ users, contract: { now: contract } }, { userId, body }) => {
    const isKnown = users.get(userId) !== undefined
    if (!isCreate && !isKnown) return unknownUser(contract)
    const read = (isCreate ? createBodySchema : updateBody).safeParse(body)
    if (!read.success) return unfit(contract, problemsOf(read.error, unknownField))
    const { duplicate, refuses, unique } = contract
    if (isCreate && isKnown && duplicate !== 'upsert') return refuseDuplicate(contract, duplicate)
    const fields = { ...read.data, user_id: userId }
    if (refuses !== 'nothing' && !isBlank(fields[refuses] ?? null)) {
      return unfit(contract, { [refuses]: 'no value: this service takes none' })
    }
    if (unique !== 'nothing' && isTaken(users, unique, fields)) {
      const problem = { [unique]: 'one that no other user has' }
      return refuseBody(contract, [409, 'conflict', 'Another user has this value.', problem])
    }
    const user = users.write(userId, fields, how === 'edit' ? 'edit' : 'set')
    const status = isCreate ? contract.createStatus : contract.updateStatus
    const show = isCreate ? contract.createBody : contract.updateBody
    if (status === 204 || show === 'none') return { status, body: null, stored: true }
    const id = { user_id: userId }
    const values = { user: retrievedForm(user, contract), id, ok: { ok: true }, null: null }
    return json(status, values[show], true)
  })
}

type Candidate = { readonly user_id: string } & UserEdit

/** Compares what is held, which a GET may not show yet, in normal form, as unique indexes commonly do. */
function isTaken(users: SandboxUsers, field: OptionalField, candidate: Candidate): boolean {
  const wanted = normalForm(field, candidate[field])
  const others = users.all().filter((user) => user.user_id !== candidate.user_id)
  return wanted !== null && others.some((user) => normalForm(field, user[field]) === wanted)
}

function unknownUser({ unknownUser: status }: Contract): SandboxAnswer {
  return status === 'null'
    ? json(200, null)
    : refuse(status, 'not_found', 'There is no user with this user_id.')
}

/** A 400 looks like every other refusal of a body, so that a caller cannot tell them apart. */
function refuseDuplicate(contract: Contract, status: 409 | 422 | 400): SandboxAnswer {
  if (status === 400) return terse(contract, status)
  const message = 'There is a user with this user_id.'
  if (status === 409) return refuse(409, 'conflict', message)
  return refuse(422, 'invalid', message, { user_id: 'one that is not in use' })
}

function unknownField(name: string): string {
  return name === 'user_id' ? 'stands in the path, not in the body' : 'not a field of a user'
}

function unfit(contract: Contract, fields: Problems): SandboxAnswer {
  return refuseBody(contract, [422, 'invalid', 'The body does not fit the interface (2.6).', fields])
}

/** With the reason only where the contract gives it. */
function refuseBody(contract: Contract, reason: Parameters<typeof refuse>): SandboxAnswer {
  if (contract.refusal === 'details') return refuse(...reason)
  return terse(contract, reason[0] === 409 ? 409 : 400)
}

/** The body of frameworks that give no reason, or the page of a web server. */
function terse({ refusal }: Contract, status: number): SandboxAnswer {
  return refusal === 'html' ? html(status) : json(status, { error: STATUS_CODES[status] })
}
