import { type RemoteUser, readUser, reportsError } from '../service/body.ts'
import type { Reply, UsersClient } from '../service/client.ts'
import { CallError } from '../service/errors.ts'
import type { BodyKind, Method, Outcome } from './classify.ts'
import type { Call } from './turn.ts'

/** One call that was made, as typed facts; nothing of its body but the user that a GET showed. */
export type Called = {
  readonly method: Method
  readonly outcome: Outcome
  readonly remote: RemoteUser | null
  readonly durationMs: number
}

type Asked = { readonly call: Call; readonly userId: string; readonly signal: AbortSignal }

/** Makes the call and turns whatever came of it into facts; only an error of our own is thrown. */
export async function callService(users: UsersClient, { call, userId, signal }: Asked): Promise<Called> {
  const started = performance.now()
  try {
    const reply = await send(users, call, userId, signal)
    const remote =
      call.method === 'GET' && reply.body.kind === 'json' ? readUser(reply.body.value, userId) : null
    const retryAfter = reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }
    const outcome: Outcome = {
      kind: 'reply',
      status: reply.status,
      body: bodyKind(reply, remote),
      ...retryAfter,
    }
    return { method: call.method, outcome, remote, durationMs: reply.durationMs }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const outcome: Outcome = { kind: 'error', error: error.kind, reached: error.reached }
    return { method: call.method, outcome, remote: null, durationMs: performance.now() - started }
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

function bodyKind({ body }: Reply, remote: RemoteUser | null): BodyKind {
  if (body.kind !== 'json') return body.kind
  if (remote) return 'user'
  if (body.value === null) return 'null'
  return reportsError(body.value) ? 'error' : 'readable'
}
