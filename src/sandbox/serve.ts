// One call of the interface: faults, credentials, the operation, the answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ReplyBody } from '../service/client.ts'
import { readBody } from '../service/json.ts'
import { type SandboxAnswer, send } from './answer.ts'
import type { LiveFaults } from './faults/faults.ts'
import { sendSlowly, strike, strikesFirst, wait } from './faults/strike.ts'
import type { JournalNote } from './journal.ts'
import { readDecoded } from './problems.ts'

/** The statuses with which a route may refuse a call; faults may answer with any. */
export type Refusal = 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422

/** What the OpenAPI document says of a route. */
export type RouteDoc = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** As Fastify writes it: `/s2s/v1/users/:user_id`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Status and body of a call that was carried out, under the documented contract. */
  readonly status: number
  readonly returns: z.ZodType
  readonly refusals: readonly Refusal[]
}

export type Route<Parts> = RouteDoc & { readonly run: (parts: Parts, call: SandboxCall) => SandboxAnswer }

export type SandboxCall = {
  /** The user of the path, the body or the token; '' when there is none. */
  readonly userId: string
  readonly body: unknown
  /** Why a body that was expected cannot be read; null when it can. */
  readonly unreadable: string | null
  readonly query: unknown
}

/** What differs between the two groups of endpoints (section 1). */
export type Group = {
  /** Known before the credentials are checked, for faults and the journal. */
  readonly userIdOf: (request: FastifyRequest, body: unknown) => string | null
  /** Section 5: null when the credentials are good. */
  readonly authorise: (request: FastifyRequest) => SandboxAnswer | null | Promise<SandboxAnswer | null>
}

export type ServeParts = {
  readonly faults: LiveFaults
  /** The journal's entry of this call. */
  readonly noteOf: (request: FastifyRequest) => JournalNote
  /** Fires when the sandbox stops: calls that wait go on at once. */
  readonly stopping: AbortSignal
}

type Serve = (
  request: FastifyRequest,
  reply: FastifyReply,
  run: (call: SandboxCall) => SandboxAnswer,
) => Promise<unknown>

/** @param prepare gives the parts when a call is carried out, after all waits, so that they are those of now */
export function addRoutes<Parts>(
  app: FastifyInstance,
  routes: readonly Route<Parts>[],
  { serve, prepare }: { readonly serve: Serve; readonly prepare: () => Parts },
): void {
  for (const { method, path, run } of routes) {
    app.route({
      method,
      url: path,
      handler: (request, reply) => serve(request, reply, (call) => run(prepare(), call)),
    })
  }
}

/** A call is carried out even when its caller has gone: a caller that gave up has to expect a late request. */
export function makeServe({ faults, noteOf, stopping }: ServeParts, { userIdOf, authorise }: Group): Serve {
  return async (request, reply, run) => {
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const read = readBody(bytes)
    const body = read.kind === 'json' ? read.value : undefined
    const userId = userIdOf(request, body)
    const note = noteOf(request)
    // The router has refused addresses that cannot be decoded.
    const path = String(readDecoded(request.url.split('?', 1)[0] ?? ''))
    const { latencyMs, ending, kinds } = faults.strike({ method: request.method, path, userId, body })
    note({ raw: bytes.toString('utf8'), json: read.kind === 'json', userId, faults: kinds })
    if (latencyMs > 0) await wait(latencyMs, stopping)
    const blow = ending?.kind === 'slow-body' ? null : ending
    if (blow !== null && strikesFirst(blow)) return strike(blow, { request, reply, stopping })
    const unreadable = unreadableFor(request, read.kind)
    const answer =
      (await authorise(request)) ?? run({ userId: userId ?? '', body, unreadable, query: request.query })
    note({ stored: answer.stored })
    if (blow !== null) return strike(blow, { request, reply, stopping })
    return ending?.kind === 'slow-body' ? sendSlowly(reply, answer, ending.durationMs) : send(reply, answer)
  }
}

export function isJsonType(type = ''): boolean {
  return /^application\/json\s*(;|$)/i.test(type)
}

/** Section 4: all bodies are JSON, and their Content-Type says so. A GET has no body. */
function unreadableFor({ method, headers }: FastifyRequest, kind: ReplyBody['kind']): string | null {
  if (method === 'GET') return null
  if (!isJsonType(headers['content-type'])) return 'Content-Type must be application/json.'
  return kind === 'json' ? null : 'The body is not JSON.'
}
