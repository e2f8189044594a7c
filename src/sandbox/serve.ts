// One call of the interface: faults, credentials, the operation, the answer.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readBody } from '../service/json.ts'
import { type Answer, errorBody, refuse } from './answer.ts'
import type { FaultAction, LiveFaults } from './faults.ts'
import type { Note } from './journal.ts'

export type Call = {
  /** Whom the call is about: the path's or the body's user, or the token's; '' when there is none. */
  readonly userId: string
  readonly body: unknown
  readonly query: Readonly<Record<string, unknown>>
}

/** What the two groups of endpoints (section 1) do each in its own way. */
export type Group = {
  /** Told before the credentials are looked at, for faults and for the journal. */
  readonly userIdOf: (request: FastifyRequest, body: unknown) => string | null
  /** Section 5: null when the credentials are good. */
  readonly authorise: (request: FastifyRequest) => Answer | null | Promise<Answer | null>
}

export type Operation = (call: Call) => Answer

export type Serve = (request: FastifyRequest, reply: FastifyReply, operation: Operation) => Promise<unknown>

export type ServeParts = {
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
export function makeServe({ faults, noteOf, stopping }: ServeParts, { userIdOf, authorise }: Group): Serve {
  return async (request, reply, operation) => {
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const read = readBody(bytes)
    const body = read.kind === 'json' ? read.value : undefined
    const userId = userIdOf(request, body)
    const note = noteOf(request)
    const { latencyMs, ending, kinds } = faults.strike({ method: request.method, userId, body })
    note({ raw: bytes.toString('utf8'), body, userId, faults: kinds })
    if (latencyMs > 0) await wait(latencyMs, stopping)
    if (ending !== null && strikesFirst(ending)) return strike(ending, request, reply)
    const query = request.query as Readonly<Record<string, unknown>>
    const answer =
      (await authorise(request)) ??
      checkBody(request, read.kind) ??
      operation({ userId: userId ?? '', body, query })
    note({ stored: answer.stored })
    return ending === null ? send(reply, answer) : strike(ending, request, reply)
  }
}

function send(reply: FastifyReply, { status, body }: Answer): unknown {
  reply.code(status)
  switch (body.kind) {
    case 'json':
      // As text: a bare null would be taken for no body.
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(body.value))
    case 'none':
      return reply.send()
    case 'html':
      return reply.type('text/html').send(htmlPage(body.title))
    default:
      return body satisfies never
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
  if (body === 'html') return reply.type('text/html').send(htmlPage(String(status)))
  return reply.send(errorBody('fault', 'A fault that was asked for.'))
}

function htmlPage(title: string): string {
  return `<!doctype html><title>${title}</title>`
}

/** A date in the header has whole seconds; it is rounded up, so that nobody comes back early. */
function retryAfterHeader(
  { form, seconds }: { form: 'seconds' | 'date'; seconds: number },
  now: number,
): string {
  return form === 'seconds' ? String(seconds) : new Date(Math.ceil(now / 1000 + seconds) * 1000).toUTCString()
}

/** Section 4: all bodies are JSON, and said to be. GET has none, and so nothing that could be mistaken. */
function checkBody({ method, headers }: FastifyRequest, kind: 'none' | 'unreadable' | 'json'): Answer | null {
  if (method === 'GET') return null
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    return refuse(400, 'bad_request', 'Content-Type must be application/json.')
  }
  return kind === 'json' ? null : refuse(400, 'bad_request', 'The body is not JSON.')
}

async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error
  })
}
