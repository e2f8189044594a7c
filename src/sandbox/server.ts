// The service itself for local work: section 4 over HTTP, with a journal and with faults on demand.
import { randomBytes, randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Answer, refuse } from './answer.ts'
import { addChat } from './chat/chat.ts'
import { type Conversations, makeConversations } from './chat/conversations.ts'
import { makeProfessionals, type ProfessionalInput, type Professionals } from './chat/professionals.ts'
import { makeTokens } from './chat/tokens.ts'
import { makeUuid } from './chat/uuid.ts'
import { type Clock, makeClock } from './clock.ts'
import { type ContractInput, type LiveContract, makeContract } from './contract/contract.ts'
import { addControl, CONTROL } from './control/control.ts'
import { type FaultInput, type Faults, makeFaults, seededRandom } from './faults/faults.ts'
import { type Journal, makeJournal, type Note, type OpenJournal } from './journal.ts'
import { makeMalformed } from './malformed.ts'
import { addOpenApi, OPENAPI_PATH } from './openapi/openapi.ts'
import { send } from './send.ts'
import { isJsonType } from './serve.ts'
import { addServerToServer } from './users/routes.ts'
import { makeUsers, type SandboxUsers } from './users/users.ts'

export type SandboxOptions = {
  readonly apiKey: string
  readonly secretKey: string
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  readonly faults?: readonly FaultInput[]
  /** How it answers where the document leaves it open. */
  readonly contract?: ContractInput
  /** For the rates of faults and the ids of messages; the same seed gives the same sequence. */
  readonly seed?: number
  /** Opens the control endpoints when the sandbox is not bound to loopback. */
  readonly controlToken?: string
  /** Entries that the journal keeps at most; default 100,000. */
  readonly journalSize?: number
  /** The machine's clock, in epoch milliseconds. */
  readonly now?: () => number
  /** Instead of the built-in ones. */
  readonly professionals?: readonly ProfessionalInput[]
}

export type Sandbox = {
  /** What to set as SERVICE_URL. */
  readonly url: string
  readonly journal: Journal
  readonly users: SandboxUsers
  readonly faults: Faults
  readonly contract: LiveContract
  /** Moves trials, tokens, working days and delayed visibility; what faults wait for is real time. */
  readonly clock: Clock
  readonly professionals: Professionals
  readonly conversations: Conversations
  /** An access token of a registered user (section 5), for one hour by default; rejects for anybody else. */
  issueToken(userId: string, options?: { readonly expiresInMs?: number }): Promise<string>
  /** Cuts all connections, also those of calls that hang. */
  stop(): Promise<void>
}

/** A user is below 10 KiB with every field filled. */
const BODY_LIMIT = 64 * 1024
/** Every byte of a long id may be written as three. */
const ID_LIMIT = 16 * 1024

/** Resolves when it listens; rejects with Node's error when the port is taken. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { apiKey, secretKey, host = '127.0.0.1', port = 0, seed = 1, journalSize = 100_000 } = options
  const { now = Date.now } = options
  const journal = makeJournal(journalSize)
  const faults = makeFaults(seededRandom(seed))
  faults.set(options.faults ?? [])
  const held = makeHeld(options, { seed, now })
  const stopping = new AbortController()
  const app = makeApp()
  const noteOf = journalCalls(app, journal, now)
  const serving = { faults, noteOf, stopping: stopping.signal }
  addServerToServer(app, { ...held, serving, credentials: { apiKey, secretKey } })
  addChat(app, { ...held, serving, apiKey })
  addOpenApi(app, { url: () => addressOf(app, host) })
  addControl(app, { ...held, journal, faults, host, token: options.controlToken })
  await app.listen({ host, port })

  const { tokens, ...shown } = held
  return {
    ...shown,
    url: addressOf(app, host),
    journal,
    faults,
    async issueToken(userId, lifetime) {
      if (held.users.get(userId) === undefined) throw new Error('Only a registered user can have a token.')
      return (await tokens.issue(userId, lifetime)).token
    },
    async stop() {
      stopping.abort()
      await app.close()
    },
  }
}

/** What the endpoints work on. */
function makeHeld(
  { contract: start = {}, professionals }: SandboxOptions,
  { seed, now }: { readonly seed: number; readonly now: () => number },
) {
  const clock = makeClock(now)
  const contract = makeContract(start)
  return {
    clock,
    contract,
    users: makeUsers({ contract, clock }),
    professionals: makeProfessionals(professionals),
    conversations: makeConversations({ clock, uuid: makeUuid(seededRandom(seed)) }),
    tokens: makeTokens({ clock, secret: randomBytes(32), uuid: randomUUID }),
  }
}

/** Exported for its limits alone, which nobody can wait for. */
export function makeApp(): FastifyInstance {
  const malformed = makeMalformed()
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Else Node answers without a body.
    http: { requireHostHeader: false },
    // For a request to arrive; without it one whose body stops in the middle would be waited for without end.
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: ID_LIMIT },
    clientErrorHandler: malformed.onClientError,
    frameworkErrors: (_error, _request, reply: FastifyReply) =>
      send(reply, refuse(400, 'bad_request', 'The address cannot be read.')),
  })
  app.server.on('request', malformed.onRequest)
  app.addHook('onRequest', async ({ headers, raw }, reply) => {
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      return send(reply, refuse(400, 'bad_request', 'The header Host is missing.'))
    }
    // To the sandbox all that is not JSON is one; of some of it fastify would say so before anybody looks at the call.
    if (!isJsonType(headers['content-type'])) headers['content-type'] = 'application/octet-stream'
  })
  // Bodies are taken as bytes, whatever they are said to be: the journal shows them as they came.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setNotFoundHandler((_request, reply) =>
    send(reply, refuse(404, 'not_found', 'There is no such endpoint.')),
  )
  app.setErrorHandler(({ statusCode = 500 }: { statusCode?: number }, _request, reply) =>
    send(reply, unhandled(statusCode)),
  )
  return app
}

function unhandled(status: number): Answer {
  if (status === 413) return refuse(status, 'too_large', 'The body is too large.')
  if (status < 500) return refuse(status, 'bad_request', 'The request cannot be read.')
  return refuse(status, 'broken', 'The sandbox itself failed.')
}

/** An entry for every call of the interface, from its head to its answer. */
function journalCalls(
  app: FastifyInstance,
  { open }: OpenJournal,
  now: () => number,
): (request: FastifyRequest) => Note {
  const notes = new WeakMap<FastifyRequest, Note>()
  app.addHook('onRequest', async (request) => {
    const [path = ''] = request.url.split('?')
    if (isAboutTheSandbox(path)) return
    notes.set(request, open({ method: request.method, path, arrivedAt: now() }))
  })
  app.addHook('onSend', async (request, reply) => {
    // Nobody was answered when the caller has gone meanwhile.
    if (!request.raw.socket.destroyed) notes.get(request)?.({ status: reply.statusCode, answeredAt: now() })
  })
  return (request) => notes.get(request) ?? (() => {})
}

function isAboutTheSandbox(path: string): boolean {
  return path === CONTROL || path.startsWith(`${CONTROL}/`) || path === OPENAPI_PATH
}

/** A sandbox that is bound to every address is reached by the loopback one. */
function addressOf(app: FastifyInstance, host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const bound = app.server.address()
  const port = typeof bound === 'object' ? bound?.port : undefined
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
