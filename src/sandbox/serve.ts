// One call of the interface: faults, credentials, the operation, the answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ReplyBody } from '../service/client.ts'
import { readBody } from '../service/json.ts'
import { type SandboxAnswer, send } from './answer.ts'
import type { LiveFaults } from './faults/faults.ts'
import { sendSlowly, strike, strikesFirst, wait } from './faults/strike.ts'
import type { JournalNote } from './journal.ts'

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

/** A group of endpoints with the same credentials (section 1). */
export type Group<Parts> = {
  readonly routes: readonly Route<Parts>[]
  /** Called when a call is carried out, after all waits. */
  readonly parts: () => Parts
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

export function addGroup<Parts>(app: FastifyInstance, group: Group<Parts>, serving: ServeParts): void {
  for (const route of group.routes) {
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => serve({ group, route, serving }, request, reply),
    })
  }
}

/** A call is carried out even when its caller has gone: a caller that gave up has to expect a late request. */
async function serve<Parts>(
  { group, route, serving }: { group: Group<Parts>; route: Route<Parts>; serving: ServeParts },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { faults, noteOf, stopping } = serving
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const read = readBody(bytes)
  const body = read.kind === 'json' ? read.value : undefined
  const userId = group.userIdOf(request, body)
  const note = noteOf(request)
  // The router has refused addresses that cannot be decoded.
  const path = decodeURIComponent(request.url.split('?', 1)[0] ?? '')
  const { latencyMs, ending, kinds } = faults.strike({ method: request.method, path, userId, body })
  note({ raw: bytes.toString('utf8'), json: read.kind === 'json', userId, faults: kinds })
  if (latencyMs > 0) await wait(latencyMs, stopping)
  const blow = ending?.kind === 'slow-body' ? null : ending
  if (blow !== null && strikesFirst(blow)) return strike(blow, { request, reply, stopping })
  const unreadable = unreadableFor(request, read.kind)
  const call = { userId: userId ?? '', body, unreadable, query: request.query }
  const answer = (await group.authorise(request)) ?? route.run(group.parts(), call)
  note({ stored: answer.stored })
  if (blow !== null) return strike(blow, { request, reply, stopping })
  if (ending?.kind !== 'slow-body') return send(reply, answer)
  return sendSlowly({ reply, stopping }, answer, ending.durationMs)
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
