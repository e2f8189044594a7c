// Control endpoints under /_sandbox/: what a test or a person asks of the sandbox itself.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { RollcallError } from '../model/errors.ts'
import { isLoopback } from '../service/address.ts'
import { readBody } from '../service/json.ts'
import { errorBody } from './answer.ts'
import { faultRule, type LiveFaults } from './faults.ts'
import { parseFault } from './faults-text.ts'
import type { Journal } from './journal.ts'
import type { SandboxUsers } from './users.ts'

export const CONTROL = '/_sandbox'

export type ControlParts = {
  readonly journal: Journal
  readonly users: SandboxUsers
  readonly faults: LiveFaults
  /** The address that the sandbox is bound to. */
  readonly host: string
  /** Asked for in the header `Sandbox-Token`; without one only a sandbox on loopback can be controlled. */
  readonly token: string | undefined
}

const journalQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(10_000).default(1000),
  user: z.string().optional(),
})
/** Rules as objects or in text form. */
const faultList = z.array(z.union([z.string().transform(parseFault), faultRule])).max(1000)

export function addControl(app: FastifyInstance, parts: ControlParts): void {
  const { journal, users, faults } = parts
  app.get(`${CONTROL}/health`, () => ({ ok: true }))
  app.register(
    (control, _options, done) => {
      control.addHook('onRequest', async (request, reply) => {
        const refusal = refuseControl(request, parts)
        if (refusal !== null) return reply.code(403).send(errorBody('forbidden', refusal))
      })
      control.get('/journal', (request, reply) => {
        const query = journalQuery.safeParse(request.query)
        if (!query.success) return reply.code(400).send(errorBody('bad_request', 'after, limit, user'))
        const { after, limit, user } = query.data
        const entries = journal.list({ after, limit, ...(user === undefined ? {} : { userId: user }) })
        return { last: journal.last, entries }
      })
      control.get('/users', () => ({ users: users.all() }))
      control.get('/faults', () => ({ faults: faults.list() }))
      control.put('/faults', (request, reply) => {
        const read = readFaults(request.body)
        if (Array.isArray(read)) faults.set(read)
        else return reply.code(400).send(errorBody('bad_request', read.problem))
        return { faults: faults.list() }
      })
      for (const [path, parts] of Object.entries({
        '/journal': [journal],
        '/users': [users],
        '/faults': [faults],
        '/': [journal, users, faults],
      })) {
        control.delete(path, (_request, reply) => {
          for (const part of parts) part.clear()
          return reply.code(204).send()
        })
      }
      done()
    },
    { prefix: CONTROL },
  )
}

type FaultList = z.output<typeof faultList>

function readFaults(body: unknown): FaultList | { readonly problem: string } {
  const read = Buffer.isBuffer(body) ? readBody(body) : { kind: 'none' as const }
  if (read.kind !== 'json') return { problem: 'A JSON array of faults was expected.' }
  try {
    const list = faultList.safeParse(read.value)
    return list.success ? list.data : { problem: z.prettifyError(list.error) }
  } catch (error) {
    if (error instanceof RollcallError) return { problem: error.details.join('\n') }
    throw error
  }
}

/**
 * Bound to loopback, the sandbox is controlled by whoever is on the machine; the Host header is looked at so
 * that a page in a browser that points its own name at loopback is not taken for that. Bound to anything
 * else, only with a token.
 */
function refuseControl(request: FastifyRequest, { host, token }: ControlParts): string | null {
  if (token !== undefined) {
    return request.headers['sandbox-token'] === token ? null : 'Sandbox-Token is missing or wrong.'
  }
  const bound = host.includes(':') ? `[${host}]` : host
  if (!isLoopback(bound))
    return 'The sandbox is not bound to loopback and was started without a control token.'
  return isLoopback(request.hostname.toLowerCase()) ? null : 'Only by a loopback name.'
}
