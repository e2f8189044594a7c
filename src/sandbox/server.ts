// The service itself for local work: sections 4.3 to 4.6 over HTTP, with a journal and with faults on demand.
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { errorBody } from './answer.ts'
import { addControl, CONTROL } from './control.ts'
import { type FaultInput, type Faults, makeFaults, seededRandom } from './faults.ts'
import { type Journal, makeJournal, type Note, type OpenJournal } from './journal.ts'
import { addServerToServer } from './server-to-server.ts'
import { makeUsers, type SandboxUsers } from './users.ts'

export type SandboxOptions = {
  readonly apiKey: string
  readonly secretKey: string
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  readonly faults?: readonly FaultInput[]
  /** For the rates of faults; the same seed gives the same sequence. */
  readonly seed?: number
  /** Opens the control endpoints when the sandbox is not bound to loopback. */
  readonly controlToken?: string
  /** Entries that the journal keeps at most; default 100,000. */
  readonly journalSize?: number
}

export type Sandbox = {
  /** What to set as SERVICE_URL. */
  readonly url: string
  readonly journal: Journal
  readonly users: SandboxUsers
  readonly faults: Faults
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
  const users = makeUsers()
  const journal = makeJournal(journalSize)
  const faults = makeFaults(seededRandom(seed))
  faults.set(options.faults ?? [])
  const stopping = new AbortController()
  const app = makeApp()
  const noteOf = journalCalls(app, journal)
  const serving = { faults, noteOf, stopping: stopping.signal }
  addServerToServer(app, { serving, credentials: { apiKey, secretKey }, users })
  addControl(app, { journal, users, faults, host, token: options.controlToken })
  await app.listen({ host, port })

  return {
    url: addressOf(app, host),
    journal,
    users,
    faults,
    async stop() {
      stopping.abort()
      await app.close()
    },
  }
}

function makeApp(): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: ID_LIMIT },
    frameworkErrors: (_error, _request, reply: FastifyReply) =>
      reply.code(400).send(errorBody('bad_request', 'The address cannot be read.')),
  })
  // Bodies are taken as bytes, whatever they are said to be: the journal shows them as they came.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send(errorBody('not_found', 'There is no such endpoint.')),
  )
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    return reply.code(status).send(unhandled(status))
  })
  return app
}

function unhandled(status: number): object {
  if (status === 413) return errorBody('too_large', 'The body is too large.')
  if (status < 500) return errorBody('bad_request', 'The request cannot be read.')
  return errorBody('broken', 'The sandbox itself failed.')
}

/** An entry for every call but those of the control endpoints, from its head to its answer. */
function journalCalls(app: FastifyInstance, { open }: OpenJournal): (request: FastifyRequest) => Note {
  const notes = new WeakMap<FastifyRequest, Note>()
  app.addHook('onRequest', async (request) => {
    const [path = ''] = request.url.split('?')
    if (path === CONTROL || path.startsWith(`${CONTROL}/`)) return
    notes.set(request, open({ method: request.method, path, arrivedAt: Date.now() }))
  })
  app.addHook('onSend', async (request, reply) => {
    // Nobody was answered when the caller has gone meanwhile.
    if (!request.raw.socket.destroyed)
      notes.get(request)?.({ status: reply.statusCode, answeredAt: Date.now() })
  })
  return (request) => notes.get(request) ?? (() => {})
}

/** A sandbox that is bound to every address is reached by the loopback one. */
function addressOf(app: FastifyInstance, host: string): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const bound = app.server.address()
  const port = typeof bound === 'object' ? bound?.port : undefined
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
