// Control endpoints under /_sandbox/: what a test or a person asks of the sandbox itself.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { isLoopback } from '../../service/address.ts'
import { readBody } from '../../service/json.ts'
import { json, refuse, type SandboxAnswer, send } from '../answer.ts'
import type { Tokens } from '../chat/tokens.ts'
import type { Faults } from '../faults/faults.ts'
import type { Journal } from '../journal.ts'
import { problemsOf } from '../problems.ts'
import type { Store } from '../serve.ts'
import { clockBody, contractBody, faultsBody, messageBody, professionalsBody, tokenBody } from './bodies.ts'

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

const journalQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(10_000).default(1000),
  user: z.string().optional(),
})
const QUERY = 'Expected after (the number of an entry), limit (1 to 10000) and user, each at most once.'

export function addControl(app: FastifyInstance, parts: ControlParts): void {
  const { users, journal, faults, contract, clock, tokens, professionals, conversations } = parts
  app.get(`${CONTROL}/health`, () => ({ ok: true }))
  app.register(addRest, { prefix: CONTROL })

  async function addRest(control: FastifyInstance): Promise<void> {
    control.addHook('onRequest', async (request, reply) => {
      const refusal = refuseControl(request, parts)
      if (refusal !== null) return send(reply, refuse(403, 'forbidden', refusal))
    })
    // Bodies are JSON whatever their Content-Type, as curl's default must do.
    control.addHook('preHandler', async (request, reply) => {
      if (request.method !== 'PUT' && request.method !== 'POST') return
      const read = Buffer.isBuffer(request.body) ? readBody(request.body) : null
      if (read?.kind !== 'json') return send(reply, refuse(400, 'bad_request', 'A JSON body was expected.'))
      request.body = read.value
    })
    control.setErrorHandler((error, _request, reply) => {
      if (!(error instanceof z.ZodError)) throw error
      return send(reply, refuse(422, 'invalid', 'The body does not fit.', problemsOf(error)))
    })
    control.get('/users', () => ({ users: users.all() }))
    control.get('/journal', (request, reply) => {
      const query = journalQuery.safeParse(request.query)
      if (!query.success) return send(reply, refuse(400, 'bad_request', QUERY))
      const { after, limit, user: userId } = query.data
      const found = journal.list({ after, limit: limit + 1, userId })
      return { last: journal.last, more: found.length > limit, entries: found.slice(0, limit) }
    })
    resource('/faults', faultsBody, { show: () => ({ faults: faults.list() }), set: faults.set })
    resource('/contract', contractBody, { show: () => contract.now, set: contract.set })
    const showClock = () => ({ now: new Date(clock.now()).toISOString() })
    resource('/clock', clockBody(clock), { show: showClock, set: clock.set })
    const showProfessionals = () => ({ professionals: professionals.all() })
    resource('/professionals', professionalsBody, { show: showProfessionals, set: professionals.set })

    // How the service issues tokens is not shown (section 5); registered users can have one (section 1).
    control.post('/tokens', async ({ body }, reply) => {
      const { user_id, expires_in: seconds } = tokenBody.parse(body)
      if (users.get(user_id) === undefined)
        return send(reply, notFound('Only a registered user can have a token.'))
      const { token, expiresAt } = await tokens.issue(user_id, { expiresInMs: seconds * 1000 })
      reply.code(201)
      return { token, token_type: 'Bearer', user_id, expires_at: new Date(expiresAt).toISOString() }
    })
    control.post('/messages', ({ body }, reply) => {
      const { user_id, professional_id, from, status, created_at: at, ...content } = messageBody.parse(body)
      if (users.get(user_id) === undefined) return send(reply, notFound('There is no such user.'))
      if (professionals.get(professional_id) === undefined)
        return send(reply, notFound('There is no such professional.'))
      const pair = { userId: user_id, professionalId: professional_id }
      return send(reply, json(201, conversations.add(pair, [{ from, status, content, at }]).messages[0]))
    })

    // `/` clears everything but the contract, which says what kind of service this is.
    const clearable = { journal, users, faults, clock, professionals, conversations }
    const add = (path: string, all: readonly { clear(): void }[]) =>
      control.delete(path, (_request, reply) => {
        for (const part of all) part.clear()
        return reply.code(204).send()
      })
    for (const [name, part] of Object.entries(clearable)) add(`/${name}`, [part])
    add('/', Object.values(clearable))
    add('/contract', [{ clear: () => contract.set({}) }])

    function resource<Schema extends z.ZodType>(
      path: string,
      schema: Schema,
      { show, set }: { show(): object; set(value: z.output<Schema>): void },
    ): void {
      control.get(path, show)
      control.put(path, ({ body }) => {
        set(schema.parse(body))
        return show()
      })
    }
  }
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
  if (!isLoopback(request.hostname.toLowerCase())) return 'Call the sandbox by a loopback name.'
  const { origin } = request.headers
  const isLocal = origin === undefined || isLoopback(URL.parse(origin)?.hostname ?? '')
  return isLocal ? null : 'A page of another origin may not control the sandbox.'
}

/** Whether a sandbox that is bound to this address cannot be controlled at all. */
export function isShut({ host, token }: Pick<ControlParts, 'host' | 'token'>): boolean {
  return token === undefined && !isLoopback(host.includes(':') ? `[${host}]` : host)
}

function notFound(message: string): SandboxAnswer {
  return refuse(404, 'not_found', message)
}
