// Control endpoints under /_sandbox/: what a test or a person asks of the sandbox itself.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isLoopback } from '../../service/address.ts'
import { readBody } from '../../service/json.ts'
import { json, refuse, send } from '../answer.ts'
import { type Conversations, type Draft, makeDrafts } from '../chat/conversations.ts'
import type { Tokens } from '../chat/tokens.ts'
import type { Faults } from '../faults/faults.ts'
import type { Journal } from '../journal.ts'
import { problemsOf } from '../problems.ts'
import type { Store } from '../serve.ts'
import {
  clockBody,
  contractBody,
  faultsBody,
  fillBody,
  messageBody,
  professionalsBody,
  tokenBody,
} from './bodies.ts'

export const CONTROL = '/_sandbox'

type ControlParts = Store & {
  readonly journal: Journal
  readonly faults: Faults
  readonly tokens: Tokens
  /** The address that the sandbox is bound to. */
  readonly host: string
  /** Expected in the header `Sandbox-Token`; without one only a sandbox on loopback can be controlled. */
  readonly token: string | undefined
}

export function addControl(app: FastifyInstance, parts: ControlParts): void {
  app.get(`${CONTROL}/health`, () => ({ ok: true }))
  app.register(
    (control, _options, done) => {
      control.addHook('onRequest', async (request, reply) => {
        const refusal = refuseControl(request, parts)
        if (refusal !== null) return send(reply, refuse(403, 'forbidden', refusal))
      })
      addResources(control, parts)
      addChat(control, parts)
      addClears(control, parts)
      done()
    },
    { prefix: CONTROL },
  )
}

/**
 * On loopback every caller of this machine controls the sandbox. The Host header keeps out a page in a browser whose
 * own name points at loopback, the Origin header keeps out every other page. Elsewhere a token is required.
 */
function refuseControl(request: FastifyRequest, { host, token }: ControlParts): string | null {
  if (token !== undefined) {
    return request.headers['sandbox-token'] === token ? null : 'Sandbox-Token is missing or wrong.'
  }
  if (isShut({ host, token })) {
    return 'The sandbox is not bound to loopback and was started without a control token.'
  }
  if (!isLoopback(request.hostname.toLowerCase())) return 'Only by a loopback name.'
  const { origin } = request.headers
  const isLocal = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '')
  return isLocal ? null : 'Not from a page of another origin.'
}

/** Whether a sandbox that is bound to this address cannot be controlled at all. */
export function isShut({ host, token }: Pick<ControlParts, 'host' | 'token'>): boolean {
  return token === undefined && !isLoopback(host.includes(':') ? `[${host}]` : host)
}

const journalQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(10_000).default(1000),
  user: z.string().optional(),
})
const QUERY = 'Expected after (the number of an entry), limit (1 to 10000) and user, each at most once.'

function addResources(control: FastifyInstance, parts: ControlParts): void {
  const { users, journal, faults, contract, clock, professionals } = parts
  control.get('/users', () => ({ users: users.all() }))
  control.get('/journal', (request, reply) => {
    const query = journalQuery.safeParse(request.query)
    if (!query.success) return send(reply, refuse(400, 'bad_request', QUERY))
    const { after, limit, user: userId } = query.data
    const found = journal.list({ after, limit: limit + 1, userId })
    return { last: journal.last, more: found.length > limit, entries: found.slice(0, limit) }
  })
  addResource(control, '/faults', {
    show: () => ({ faults: faults.list() }),
    body: faultsBody,
    set: faults.set,
  })
  addResource(control, '/contract', { show: () => contract.now, body: contractBody, set: contract.set })
  addResource(control, '/clock', {
    show: () => ({ now: new Date(clock.now()).toISOString() }),
    body: clockBody(clock),
    set: clock.set,
  })
  addResource(control, '/professionals', {
    show: () => ({ professionals: professionals.all() }),
    body: professionalsBody,
    set: professionals.set,
  })
}

type Resource<Schema extends z.ZodType> = {
  readonly show: () => object
  readonly body: Schema
  readonly set: (value: z.output<Schema>) => void
}

function addResource<Schema extends z.ZodType>(
  control: FastifyInstance,
  path: string,
  { show, body, set }: Resource<Schema>,
): void {
  control.get(path, show)
  control.put(
    path,
    withBody(body, (value) => {
      set(value)
      return show()
    }),
  )
}

type Adding = {
  readonly user_id: string
  readonly professional_id: string
  readonly drafts: readonly Draft[]
  readonly show: (added: ReturnType<Conversations['add']>) => unknown
}

function addChat(control: FastifyInstance, parts: ControlParts): void {
  const { users, clock, tokens, professionals, conversations } = parts
  // How the service issues tokens is not shown (section 5); registered users can have one (section 1).
  control.post(
    '/tokens',
    withBody(tokenBody, async ({ user_id: userId, expires_in: seconds }, reply) => {
      if (users.get(userId) === undefined) return notFound(reply, 'Only a registered user can have a token.')
      const { token, expiresAt } = await tokens.issue(userId, { expiresInMs: seconds * 1000 })
      const times = { expires_at: new Date(expiresAt).toISOString() }
      return send(reply, json(201, { token, token_type: 'Bearer', user_id: userId, ...times }))
    }),
  )
  control.post(
    '/messages',
    withBody(messageBody, ({ from, status, created_at: at, user_id, professional_id, ...content }, reply) => {
      const drafts = [{ from, status, content, at }]
      return add(reply, { user_id, professional_id, drafts, show: ({ messages: [message] }) => message })
    }),
  )
  control.post(
    '/conversations',
    withBody(fillBody, ({ messages, ...pair }, reply) => {
      const drafts = makeDrafts(messages, clock.now())
      return add(reply, { ...pair, drafts, show: ({ room }) => ({ room: room.id, messages }) })
    }),
  )
  control.post<{ Params: { id: string } }>('/rooms/:id/read', ({ params: { id } }, reply) => {
    const room = /^\d+$/.test(id) ? Number(id) : Number.NaN
    const marked = conversations.markRead(room)
    return marked === undefined ? notFound(reply, 'There is no such room.') : { room, marked }
  })

  function add(
    reply: FastifyReply,
    { user_id: userId, professional_id: professionalId, drafts, show }: Adding,
  ) {
    if (users.get(userId) === undefined) return notFound(reply, 'There is no such user.')
    if (professionals.get(professionalId) === undefined)
      return notFound(reply, 'There is no such professional.')
    return send(reply, json(201, show(conversations.add({ userId, professionalId }, drafts))))
  }
}

/** `/` clears everything but the contract, which says what kind of service this is. */
function addClears(control: FastifyInstance, parts: ControlParts): void {
  const { journal, users, faults, clock, professionals, conversations, contract } = parts
  const clearable = { journal, users, faults, clock, professionals, conversations }
  const add = (path: string, all: readonly { clear(): void }[]) =>
    control.delete(path, (_request, reply) => {
      for (const part of all) part.clear()
      return reply.code(204).send()
    })
  for (const [name, part] of Object.entries(clearable)) add(`/${name}`, [part])
  add('/', Object.values(clearable))
  add('/contract', [{ clear: () => contract.set({}) }])
}

/**
 * Calls `then` with a JSON body that fits the schema; otherwise 422 with what was expected of each field, never with
 * its value, or 400 without JSON. Any Content-Type will do, as curl's default must.
 */
function withBody<Schema extends z.ZodType>(
  schema: Schema,
  then: (body: z.output<Schema>, reply: FastifyReply) => unknown,
): (request: FastifyRequest, reply: FastifyReply) => unknown {
  return ({ body }, reply) => {
    const read = Buffer.isBuffer(body) ? readBody(body) : { kind: 'none' as const }
    if (read.kind !== 'json') return send(reply, refuse(400, 'bad_request', 'A JSON body was expected.'))
    const parsed = schema.safeParse(read.value)
    if (parsed.success) return then(parsed.data, reply)
    return send(reply, refuse(422, 'invalid', 'The body does not fit.', problemsOf(parsed.error)))
  }
}

function notFound(reply: FastifyReply, message: string): unknown {
  return send(reply, refuse(404, 'not_found', message))
}
