// One call of the interface: faults, credentials, the operation, the answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { sleep } from '../ops/time.ts'
import type { ReplyBody } from '../service/client.ts'
import { readBody } from '../service/json.ts'
import { type SandboxAnswer, send } from './answer.ts'
import type { Conversations } from './chat/conversations.ts'
import type { Professionals } from './chat/professionals.ts'
import type { SandboxClock } from './clock.ts'
import type { LiveContract } from './contract/contract.ts'
import type { Faults } from './faults/faults.ts'
import { sendSlowly, strike, strikesFirst } from './faults/strike.ts'
import type { JournalNote } from './journal.ts'
import type { SandboxUsers } from './users/users.ts'

export type Store = {
  readonly users: SandboxUsers
  readonly contract: LiveContract
  /** Moves trials, tokens and delayed visibility; faults wait in real time. */
  readonly clock: SandboxClock
  readonly professionals: Professionals
  readonly conversations: Conversations
}

/** The statuses with which a route may refuse a call; faults may answer with any. */
export type Refusal = 400 | 401 | 403 | 404 | 409 | 410 | 413 | 422

/** A route, and what the OpenAPI document says of it. */
export type Route = {
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
  readonly run: (store: Store, call: SandboxCall) => SandboxAnswer
}

export type SandboxCall = {
  /** The user of the path, the body or the token; '' when there is none. */
  readonly userId: string
  readonly body: unknown
  /** Why a body that was expected cannot be read; null when it can. */
  readonly unreadable: string | null
  readonly query: unknown
}

/** A group of endpoints with the same credentials (section 1). */
export type Group = {
  readonly routes: readonly Route[]
  /** Known before the credentials are checked, for faults and the journal. */
  readonly userIdOf: (request: FastifyRequest, body: unknown) => string | null
  /** Section 5: null when the credentials are good. */
  readonly authorise: (request: FastifyRequest) => SandboxAnswer | null | Promise<SandboxAnswer | null>
}

type ServeParts = {
  readonly store: Store
  readonly faults: Faults
  readonly noteOf: (request: FastifyRequest) => JournalNote
  /** Fires when the sandbox stops: calls that wait go on at once. */
  readonly stopping: AbortSignal
}

export function addGroup(app: FastifyInstance, group: Group, serving: ServeParts): void {
  const { store, faults, noteOf, stopping } = serving
  for (const route of group.routes) {
    app.route({ method: route.method, url: route.path, handler: serve })

    /** A call is carried out even when its caller has gone: a caller that gave up has to expect a late request. */
    async function serve(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const read = readBody(bytes)
      const body = read.kind === 'json' ? read.value : undefined
      const userId = group.userIdOf(request, body)
      const note = noteOf(request)
      // The router has refused paths that cannot be decoded; a fragment is none of its business.
      const path = decodeURIComponent(request.url.split(/[?#]/, 1)[0] ?? '')
      const { latencyMs, ending, kinds } = faults.strike({ method: request.method, path, userId, body })
      note({ bytes, userId, faults: kinds })
      if (latencyMs > 0) await sleep(latencyMs, stopping)
      const blow = ending?.kind === 'slow-body' ? null : ending
      if (blow !== null && strikesFirst(blow)) return strike(blow, reply, stopping)
      const unreadable = unreadableFor(request, read.kind)
      const call = { userId: userId ?? '', body, unreadable, query: request.query }
      const answer = (await group.authorise(request)) ?? route.run(store, call)
      note({ stored: answer.stored })
      if (blow !== null) return strike(blow, reply, stopping)
      if (ending?.kind !== 'slow-body') return send(reply, answer)
      return sendSlowly(reply, answer, { durationMs: ending.durationMs, stopping })
    }
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
