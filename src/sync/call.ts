import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { OptionalField } from '../model/user.ts'
import { contradicts, type RemoteUser, readUser, reportsError } from '../service/body.ts'
import type { Reply } from '../service/client.ts'
import { CallError } from '../service/errors.ts'
import { namedFields, saysConflict } from '../service/named.ts'
import { shapeOf } from '../service/shape.ts'
import type { UsersClient } from '../service/users.ts'
import type { BodyKind, Method, Outcome } from './classify.ts'
import type { Plan } from './plan.ts'
import type { Call } from './turn.ts'

/** One call that was made, as typed facts; nothing of its body but the user that a GET showed. */
export type Called = {
  readonly method: Method
  readonly outcome: Outcome
  readonly remote: RemoteUser | null
  /** Fields that the answer names, where it may be a refusal. */
  readonly named: readonly OptionalField[]
  /** It says that another user has what was sent. */
  readonly conflict: boolean
  /** What the body looks like, without a value; null when it is no JSON. */
  readonly shape: string | null
  readonly durationMs: number
}

type Asked = { readonly call: Call; readonly userId: string; readonly signal: AbortSignal }

/** A value that another user has may pass for one that does not fit. */
const INVALID = new Set([400, 422])

/** Makes the call and turns whatever came of it into facts; only an error of our own is thrown. */
export async function callService(users: UsersClient, asked: Asked): Promise<Called> {
  const { call, userId, signal } = asked
  const started = performance.now()
  try {
    const reply = await send(users, call, userId, signal)
    const body = reply.body.kind === 'json' ? reply.body.value : null
    const remote = call.method === 'GET' ? readUser(body, userId) : null
    const retryAfter = reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }
    const outcome: Outcome = {
      kind: 'reply',
      status: reply.status,
      body: bodyKind(reply, remote, asked),
      ...retryAfter,
    }
    const named = reply.status >= 400 ? namedFields(body) : []
    const conflict = reply.status === 409 || (INVALID.has(reply.status) && saysConflict(body))
    const shape = reply.body.kind === 'json' ? shapeOf(reply.body.value) : null
    return { method: call.method, outcome, remote, named, conflict, shape, durationMs: reply.durationMs }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const outcome: Outcome = { kind: 'error', error: error.kind, reached: error.reached }
    const durationMs = performance.now() - started
    const nothing = { remote: null, named: [], conflict: false, shape: null }
    return { method: call.method, outcome, ...nothing, durationMs }
  }
}

function send(users: UsersClient, call: Call, userId: string, signal: AbortSignal): Promise<Reply> {
  switch (call.method) {
    case 'GET':
      return users.retrieveUser(userId, { signal })
    case 'POST':
      return users.createUser(call.body, { signal })
    case 'PUT':
      return users.replaceUser(userId, call.body, { signal })
    case 'PATCH':
      return users.updateUser(userId, call.body, { signal })
    default:
      return call satisfies never
  }
}

function bodyKind({ body }: Reply, remote: RemoteUser | null, { call, userId }: Asked): BodyKind {
  if (body.kind !== 'json') return body.kind
  if (remote) return 'user'
  if (body.value === null) return 'null'
  if ('body' in call && contradicts(body.value, userId, call.body.status)) return 'other'
  return reportsError(body.value) ? 'error' : 'readable'
}

type MadeCall = {
  readonly key: CustomerKey
  readonly plan: Plan | 'verify' | 'probe'
  readonly called: Called
  readonly meaning: string
}

/** The log entry of a call. Plan and answer hold field values; only names, codes and types are taken. */
export function callEntry({ key, plan, called, meaning }: MadeCall): CallEntry {
  const { method, outcome, shape, durationMs: ms } = called
  const answer =
    outcome.kind === 'reply'
      ? { status: outcome.status, error: null, body: outcome.body }
      : { status: null, error: outcome.error, body: null }
  const body = typeof plan !== 'string' && 'body' in plan ? Object.entries(plan.body) : []
  const fields = body.flatMap(([name, value]) => (name === 'user_id' || value === undefined ? [] : name))
  const kind = typeof plan === 'string' ? plan : plan.kind
  return { key, atMs: Date.now(), plan: kind, method, ...answer, meaning, ms, fields, shape }
}
