// Control endpoints under /_sandbox/: what a test or a person asks of the sandbox itself.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isLoopback } from '../../service/address.ts'
import { refuse } from '../answer.ts'
import type { LiveContract } from '../contract/contract.ts'
import { faultRule, type LiveFaults } from '../faults/faults.ts'
import { readFault } from '../faults/text.ts'
import { type Journal, pageOfEntries } from '../journal.ts'
import { send } from '../send.ts'
import { listOrShown, withBody } from './body.ts'
import { addChatControl, type ChatControlParts } from './chat.ts'
import { addClockControl } from './clock.ts'
import { addContractControl } from './contract.ts'

export const CONTROL = '/_sandbox'

export type ControlParts = ChatControlParts & {
  readonly journal: Journal
  readonly contract: LiveContract
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
/** Of bodies and addresses in one answer: in JSON it may be six times as long, and nobody else is served meanwhile. */
const MAX_JOURNAL_TEXT = 4 * 1024 * 1024
const QUERY = 'Expected after (the number of an entry), limit (1 to 10000) and user, each at most once.'

/** Rules in text form or as objects, what GET adds to them included. */
const faultList = listOrShown('faults', z.array(z.preprocess(readRule, faultRule)).max(1000))

export function addControl(app: FastifyInstance, parts: ControlParts): void {
  app.get(`${CONTROL}/health`, () => ({ ok: true }))
  app.register(
    (control, _options, done) => {
      control.addHook('onRequest', async (request, reply) => {
        const refusal = refuseControl(request, parts)
        if (refusal !== null) return send(reply, refuse(403, 'forbidden', refusal))
      })
      addJournal(control, parts.journal)
      control.get('/users', () => ({ users: parts.users.all() }))
      addFaults(control, parts.faults)
      addContractControl(control, parts.contract)
      addClockControl(control, parts.clock)
      addChatControl(control, parts)
      addClears(control, parts)
      done()
    },
    { prefix: CONTROL },
  )
}

function addJournal(control: FastifyInstance, journal: Journal): void {
  control.get('/journal', (request, reply) => {
    const query = journalQuery.safeParse(request.query)
    if (!query.success) return send(reply, refuse(400, 'bad_request', QUERY))
    const { after, limit, user } = query.data
    const found = journal.list({ after, limit: limit + 1, ...(user === undefined ? {} : { userId: user }) })
    const entries = pageOfEntries(found, { limit, maxText: MAX_JOURNAL_TEXT })
    return { last: journal.last, more: found.length > entries.length, entries }
  })
}

function addFaults(control: FastifyInstance, faults: LiveFaults): void {
  control.get('/faults', () => ({ faults: faults.list() }))
  control.put(
    '/faults',
    withBody(faultList, (list) => {
      faults.set(list)
      return { faults: faults.list() }
    }),
  )
}

/** `/` clears all that it holds; the contract is no such thing, but says what kind of service this is. */
function addClears(control: FastifyInstance, parts: ControlParts): void {
  const { journal, users, faults, clock, professionals, conversations } = parts
  const clearable = { journal, users, faults, clock, professionals, conversations }
  for (const [name, part] of Object.entries(clearable)) addClear(control, `/${name}`, [part])
  addClear(control, '/', Object.values(clearable))
}

function addClear(control: FastifyInstance, path: string, parts: readonly { clear(): void }[]): void {
  control.delete(path, (_request, reply) => {
    for (const part of parts) part.clear()
    return reply.code(204).send()
  })
}

function readRule(rule: unknown, context: z.RefinementCtx): unknown {
  if (typeof rule !== 'string') return withoutCounts(rule)
  const read = readFault(rule)
  if (read.rule !== null) return read.rule
  context.addIssue({ code: 'custom', message: read.problems.join('; ') })
  return z.NEVER
}

/** `struck` and `spent` are shown; a rule that is set begins anew. */
function withoutCounts(rule: unknown): unknown {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return rule
  return Object.fromEntries(Object.entries(rule).filter(([name]) => name !== 'struck' && name !== 'spent'))
}

/**
 * Bound to loopback, the sandbox is controlled by whoever is on the machine; the Host header is looked at so
 * that a page in a browser that points its own name at loopback is not taken for that, and the Origin header so that
 * no page can post to loopback either. Bound to anything else, only with a token.
 */
function refuseControl(request: FastifyRequest, { host, token }: ControlParts): string | null {
  if (token !== undefined) {
    return request.headers['sandbox-token'] === token ? null : 'Sandbox-Token is missing or wrong.'
  }
  if (isShut({ host, token })) {
    return 'The sandbox is not bound to loopback and was started without a control token.'
  }
  if (!isLoopback(request.hostname.toLowerCase())) return 'Only by a loopback name.'
  return comesFromElsewhere(request.headers.origin) ? 'Not from a page of another origin.' : null
}

/** Whether nobody can control a sandbox that is bound to this address. */
export function isShut({ host, token }: Pick<ControlParts, 'host' | 'token'>): boolean {
  return token === undefined && !isLoopback(host.includes(':') ? `[${host}]` : host)
}

function comesFromElsewhere(origin: string | undefined): boolean {
  return origin !== undefined && !(URL.canParse(origin) && isLoopback(new URL(origin).hostname))
}
