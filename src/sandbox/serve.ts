// One call of the server-to-server interface: faults, credentials, the operation, the answer.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readBody } from '../service/json.ts'
import type { FaultAction, LiveFaults } from './faults.ts'
import type { Note } from './journal.ts'
import { type Answer, errorBody, refuse } from './operations.ts'

export type Credentials = { readonly apiKey: string; readonly secretKey: string }

export type Operation = (userId: string, body: unknown) => Answer

export type ServeParts = {
  readonly credentials: Credentials
  readonly faults: LiveFaults
  /** The journal's entry of this call. */
  readonly noteOf: (request: FastifyRequest) => Note
  /** Fires when the sandbox stops: calls that wait go on at once. */
  readonly stopping: AbortSignal
}

type Ending = Exclude<FaultAction, { kind: 'latency' }>

/**
 * Handles a call: whatever it waits for, it is carried out even when the caller has gone meanwhile, because a
 * late request is exactly what a caller who gave up has to reckon with.
 */
export function makeServe({ credentials, faults, noteOf, stopping }: ServeParts) {
  return async (request: FastifyRequest, reply: FastifyReply, operation: Operation): Promise<unknown> => {
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const read = readBody(bytes)
    const body = read.kind === 'json' ? read.value : undefined
    const userId = userIdOf(request, body)
    const note = noteOf(request)
    const { latencyMs, ending, kinds } = faults.strike({ method: request.method, userId, body })
    note({ raw: bytes.toString('utf8'), body, userId, faults: kinds })
    if (latencyMs > 0) await wait(latencyMs, stopping)
    if (ending !== null && strikesFirst(ending)) return strike(ending, request, reply)
    const answer =
      checkCredentials(request, credentials) ?? checkBody(request, read.kind) ?? operation(userId ?? '', body)
    note({ stored: answer.stored })
    return ending === null ? reply.code(answer.status).send(answer.body) : strike(ending, request, reply)
  }
}

function strikesFirst(ending: Ending): boolean {
  return (
    ending.kind === 'down' || ending.kind === 'drop-before' || (ending.kind === 'status' && !ending.stored)
  )
}

function strike(ending: Ending, request: FastifyRequest, reply: FastifyReply): unknown {
  switch (ending.kind) {
    case 'down':
    case 'drop-before':
    case 'drop-after':
      reply.hijack()
      request.raw.socket.destroy()
      return reply
    case 'hang-after':
      return reply.hijack()
    case 'status':
      return answerWith(ending, reply)
    default:
      return ending satisfies never
  }
}

function answerWith(ending: Extract<Ending, { kind: 'status' }>, reply: FastifyReply): unknown {
  const { status, body, retryAfter } = ending
  if (retryAfter !== undefined) reply.header('retry-after', retryAfterHeader(retryAfter, Date.now()))
  reply.code(status)
  if (body === 'empty') return reply.send()
  if (body === 'html') return reply.type('text/html').send(`<!doctype html><title>${status}</title>`)
  return reply.send(errorBody('fault', 'A fault that was asked for.'))
}

/** A date in the header has whole seconds; it is rounded up, so that nobody comes back early. */
function retryAfterHeader(
  { form, seconds }: { form: 'seconds' | 'date'; seconds: number },
  now: number,
): string {
  return form === 'seconds' ? String(seconds) : new Date(Math.ceil(now / 1000 + seconds) * 1000).toUTCString()
}

/** Section 5: both headers, on every call. */
function checkCredentials({ headers }: FastifyRequest, { apiKey, secretKey }: Credentials): Answer | null {
  if (headers['api-key'] === apiKey && headers['secret-key'] === secretKey) return null
  return refuse(401, 'unauthorized', 'Api-Key or Secret-Key is missing or wrong.')
}

/** Section 4: all bodies are JSON, and said to be. GET has none, and so nothing that could be mistaken. */
function checkBody({ method, headers }: FastifyRequest, kind: 'none' | 'unreadable' | 'json'): Answer | null {
  if (method === 'GET') return null
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    return refuse(400, 'bad_request', 'Content-Type must be application/json.')
  }
  return kind === 'json' ? null : refuse(400, 'bad_request', 'The body is not JSON.')
}

function userIdOf({ params }: FastifyRequest, body: unknown): string | null {
  if (holdsUserId(params)) return params.user_id
  return holdsUserId(body) ? body.user_id : null
}

function holdsUserId(value: unknown): value is { readonly user_id: string } {
  return (
    typeof value === 'object' && value !== null && 'user_id' in value && typeof value.user_id === 'string'
  )
}

async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error
  })
}
