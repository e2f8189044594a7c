// A local imitation of the service: section 4 over HTTP, with a journal and with faults on demand.
import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { refuse, type SandboxAnswer, send } from './answer.ts'
import { makeChatGroup } from './chat/chat.ts'
import { makeConversations } from './chat/conversations.ts'
import { makeProfessionals, PEOPLE } from './chat/professionals.ts'
import { makeTokens } from './chat/tokens.ts'
import { makeClock } from './clock.ts'
import { type ContractInput, makeContract } from './contract/contract.ts'
import { addControl, CONTROL } from './control/control.ts'
import { type FaultInput, makeFaults, seededRandom } from './faults/faults.ts'
import { type JournalNote, makeJournal } from './journal.ts'
import { makeOpenApi } from './openapi.ts'
import { addGroup, isJsonType, type Store } from './serve.ts'
import { makeUserGroup } from './users/routes.ts'
import { makeUsers } from './users/users.ts'

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
  /** For the rates of faults; the same seed gives the same sequence. */
  readonly seed?: number
  /** Opens the control endpoints when the sandbox is not bound to loopback. */
  readonly controlToken?: string
  /** The machine's clock, in epoch milliseconds. */
  readonly now?: () => number
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>

/** Without credentials. */
const OPENAPI_PATH = '/openapi.json'
/** Entries that the journal keeps at most. */
const JOURNAL_SIZE = 100_000

/** Resolves when it listens; rejects with Node's error when the port is taken. */
export async function startSandbox(options: SandboxOptions) {
  const { apiKey, secretKey, host = '127.0.0.1', port = 0, seed = 1, now = Date.now } = options
  const journal = makeJournal(JOURNAL_SIZE)
  const faults = makeFaults(seededRandom(seed))
  faults.set(options.faults ?? [])
  const clock = makeClock(now)
  const contract = makeContract(options.contract ?? {})
  const users = makeUsers({ contract, clock })
  const professionals = makeProfessionals(PEOPLE)
  const store: Store = { clock, contract, users, professionals, conversations: makeConversations(clock) }
  const tokens = makeTokens(clock, randomBytes(32))
  const stopping = new AbortController()
  const app = makeApp()
  const serving = { store, faults, noteOf: journalCalls(app, journal, now), stopping: stopping.signal }
  addGroup(app, makeUserGroup({ apiKey, secretKey }), serving)
  addGroup(app, makeChatGroup({ apiKey, tokens }, users), serving)
  app.get(OPENAPI_PATH, () => makeOpenApi(addressOf(app, host)))
  addControl(app, { ...store, tokens, journal, faults, host, token: options.controlToken })
  await app.listen({ host, port })

  return {
    ...store,
    /** The value for SERVICE_URL. */
    url: addressOf(app, host),
    journal,
    faults,
    /** An access token of a registered user (section 5), for one hour by default; rejects for other users. */
    async issueToken(userId: string, lifetime?: { readonly expiresInMs?: number }): Promise<string> {
      if (users.get(userId) === undefined) throw new Error('Only a registered user can have a token.')
      return (await tokens.issue(userId, lifetime)).token
    },
    /** Cuts all connections, those of hanging calls too. */
    async stop(): Promise<void> {
      stopping.abort()
      await app.close()
    },
  }
}

/** A user is below 10 KiB with every field filled. */
const BODY_LIMIT = 64 * 1024
/** Every byte of a long id may be written as three. */
const ID_LIMIT = 16 * 1024

function makeApp(): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Ends the wait for a body that stops in the middle.
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: ID_LIMIT },
    frameworkErrors: (_error, _request, reply: FastifyReply) =>
      send(reply, refuse(400, 'bad_request', 'The address cannot be read.')),
  })
  app.addHook('onRequest', async ({ headers }) => {
    // Fastify refuses some content types before a handler sees the call; the sandbox treats all of them alike.
    if (!isJsonType(headers['content-type'])) headers['content-type'] = 'application/octet-stream'
  })
  // Bodies are read as bytes whatever their type, so that the journal shows them as they came.
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

function unhandled(status: number): SandboxAnswer {
  if (status === 413) return refuse(status, 'too_large', 'The body is too large.')
  if (status < 500) return refuse(status, 'bad_request', 'The request cannot be read.')
  return refuse(status, 'broken', 'The sandbox itself failed.')
}

/** An entry for every call of the interface, from its head to its answer. */
function journalCalls(app: FastifyInstance, { open }: ReturnType<typeof makeJournal>, now: () => number) {
  const notes = new WeakMap<FastifyRequest, JournalNote>()
  app.addHook('onRequest', async (request) => {
    const [path = ''] = request.url.split('?')
    // Calls about the sandbox itself.
    if (path === CONTROL || path.startsWith(`${CONTROL}/`) || path === OPENAPI_PATH) return
    notes.set(request, open({ method: request.method, path, arrivedAt: now() }))
  })
  app.addHook('onSend', async (request, reply) => {
    // A caller that has gone gets no answer.
    if (!request.raw.socket.destroyed) notes.get(request)?.({ status: reply.statusCode, answeredAt: now() })
  })
  return (request: FastifyRequest) => notes.get(request) ?? (() => {})
}

/** A sandbox that is bound to every address is reached by the loopback one. */
function addressOf(app: FastifyInstance, host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const bound = app.server.address()
  const port = typeof bound === 'object' ? bound?.port : undefined
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
