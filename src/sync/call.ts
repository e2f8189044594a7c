import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { DesiredUser, OptionalField } from '../model/user.ts'
import { contradicts, type RemoteUser, readUser, reportsError } from '../service/body.ts'
import type { Reply } from '../service/client.ts'
import { CallError } from '../service/errors.ts'
import { namedFields, saysConflict } from '../service/named.ts'
import { shapeOf } from '../service/shape.ts'
import type { UsersClient } from '../service/users.ts'
import {
  type BodyKind,
  classifyRead,
  classifyWrite,
  type Method,
  type Outcome,
  type ReadMeaning,
  type WriteMeaning,
} from './classify.ts'
import type { ClaimSituation } from './next-plan.ts'
import type { Call, CallPlan, Plan } from './plan.ts'

type Answer = {
  readonly outcome: Outcome
  /** Fields that the answer names, where it may be a refusal. */
  readonly named: readonly OptionalField[]
  /** It says that another user has what was sent. */
  readonly conflict: boolean
  /** The shape of the body, without a value; null when it is no JSON. */
  readonly shape: string | null
  readonly durationMs: number
}

/** One call that was made: what its answer means, and typed facts. Nothing of its body but the user that a GET showed. */
export type Called = CalledGet | CalledWrite
export type CalledGet = Answer & {
  readonly method: 'GET'
  readonly meaning: ReadMeaning
  readonly observed: RemoteUser | null
}
type CalledWrite = Answer & {
  readonly method: Exclude<Method, 'GET'>
  readonly meaning: WriteMeaning
  readonly observed: null
}

/** The facts of an answer besides its meaning, as absorb.ts gathers them; `status` is null when there was none. */
export type Facts = Pick<ClaimSituation, 'digests' | 'lookupAfterMs' | 'accessFirst'> &
  Pick<Called, 'named' | 'conflict'> & {
    readonly plan: CallPlan
    readonly status: number | null
    readonly error?: string
    /** By Retry-After. */
    readonly wait?: { readonly waitMs: number }
    readonly desired: DesiredUser | null
  }

/** Some services refuse a value that another user has with one of these, and not with 409. */
const INVALID = new Set([400, 422])

/** Makes the call and turns whatever came of it into facts; only an error of our own is thrown. */
export async function callService(users: UsersClient, request: CallRequest): Promise<Called> {
  const { observed, answer } = await exchange(users, request)
  return classified(request.call.method, observed, answer)
}

export async function getUser(users: UsersClient, request: Omit<CallRequest, 'call'>): Promise<CalledGet> {
  const { observed, answer } = await exchange(users, { ...request, call: { method: 'GET' } })
  return classifiedGet(observed, answer)
}

export function classified(method: Method, observed: RemoteUser | null, answer: Answer): Called {
  if (method === 'GET') return classifiedGet(observed, answer)
  return { method, meaning: classifyWrite(method, answer.outcome), observed: null, ...answer }
}

function classifiedGet(observed: RemoteUser | null, answer: Answer): CalledGet {
  return { method: 'GET', meaning: classifyRead(answer.outcome), observed, ...answer }
}

type CallRequest = { readonly call: Call; readonly userId: string; readonly signal: AbortSignal }

async function exchange(users: UsersClient, request: CallRequest) {
  const { call, userId, signal } = request
  const started = performance.now()
  try {
    const reply = await send(users, call, userId, signal)
    const body = reply.body.kind === 'json' ? reply.body.value : null
    const observed = call.method === 'GET' ? readUser(body, userId) : null
    const retryAfter = reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }
    const outcome: Outcome = {
      kind: 'reply',
      status: reply.status,
      body: bodyKind(reply, observed, request),
      ...retryAfter,
    }
    const named = reply.status >= 400 ? namedFields(body) : []
    const conflict = reply.status === 409 || (INVALID.has(reply.status) && saysConflict(body))
    const shape = reply.body.kind === 'json' ? shapeOf(reply.body.value) : null
    return { observed, answer: { outcome, named, conflict, shape, durationMs: reply.durationMs } }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const outcome: Outcome = { kind: 'error', error: error.kind, reached: error.reached }
    const nothing = { named: [], conflict: false, shape: null }
    return { observed: null, answer: { outcome, ...nothing, durationMs: performance.now() - started } }
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

function bodyKind({ body }: Reply, observed: RemoteUser | null, { call, userId }: CallRequest): BodyKind {
  if (body.kind !== 'json') return body.kind
  if (observed) return 'user'
  if (body.value === null) return 'null'
  if ('body' in call && contradicts(body.value, userId, call.body.status)) return 'other'
  return reportsError(body.value) ? 'error' : 'readable'
}

type MadeFor = {
  readonly key: CustomerKey
  readonly plan: Plan | 'check' | 'probe'
  readonly called: Called
}

/** The log entry of a call. Plan and answer hold field values; only names, codes and types are taken. */
export function callEntry({ key, plan, called }: MadeFor): CallEntry {
  const { method, meaning, outcome, shape, durationMs: ms } = called
  const answer =
    outcome.kind === 'reply'
      ? { status: outcome.status, error: null, body: outcome.body }
      : { status: null, error: outcome.error, body: null }
  const body = typeof plan !== 'string' && 'body' in plan ? Object.entries(plan.body) : []
  const fields = body.flatMap(([name, value]) => (name === 'user_id' || value === undefined ? [] : name))
  const kind = typeof plan === 'string' ? plan : plan.kind
  return { key, atMs: Date.now(), plan: kind, method, ...answer, meaning, ms, fields, shape }
}
