// One call of the interface: faults, credentials, the operation, the answer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReplyBody } from '../service/client.ts'
import { readBody } from '../service/json.ts'
import type { Answer } from './answer.ts'
import type { LiveFaults } from './faults/faults.ts'
import { sendSlowly } from './faults/slow.ts'
import { strike, strikesFirst } from './faults/strike.ts'
import { wait } from './faults/wait.ts'
import type { Note } from './journal.ts'
import { send } from './send.ts'

export type Call = {
  /** Whom the call is about: the path's or the body's user, or the token's; '' when there is none. */
  readonly userId: string
  readonly body: unknown
  /** What is wrong with a body where one was expected, whatever it says; null: nothing. */
  readonly unreadable: string | null
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
    const { latencyMs, ending, kinds } = faults.strike({
      method: request.method,
      path: decodedPath(request.url),
      userId,
      body,
    })
    note({ raw: bytes.toString('utf8'), json: read.kind === 'json', userId, faults: kinds })
    if (latencyMs > 0) await wait(latencyMs, stopping)
    const blow = ending?.kind === 'slow-body' ? null : ending
    if (blow !== null && strikesFirst(blow)) return strike(blow, { request, reply, stopping })
    const query = request.query as Readonly<Record<string, unknown>>
    const unreadable = unreadableFor(request, read.kind)
    const answer = (await authorise(request)) ?? operation({ userId: userId ?? '', body, unreadable, query })
    note({ stored: answer.stored })
    if (blow !== null) return strike(blow, { request, reply, stopping })
    return ending?.kind === 'slow-body' ? sendSlowly(reply, answer, ending.durationMs) : send(reply, answer)
  }
}

/** What cannot be decoded led to no endpoint, so this is only careful. */
function decodedPath(url: string): string {
  const [path = ''] = url.split('?')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

export function isJsonType(type = ''): boolean {
  return /^application\/json\s*(;|$)/i.test(type)
}

/** Section 4: all bodies are JSON, and said to be. GET has none, and so nothing that could be mistaken. */
function unreadableFor({ method, headers }: FastifyRequest, kind: ReplyBody['kind']): string | null {
  if (method === 'GET') return null
  if (!isJsonType(headers['content-type'])) {
    return 'Content-Type must be application/json.'
  }
  return kind === 'json' ? null : 'The body is not JSON.'
}
