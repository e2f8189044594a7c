// Control endpoints under /_sandbox/: what a test or a person asks of the sandbox itself.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { isLoopback } from '../../service/address.ts'
import { refuse, send } from '../answer.ts'
import { inClockRange, type SandboxClock } from '../clock.ts'
import { contract, type LiveContract } from '../contract/contract.ts'
import { isPreset, PRESETS } from '../contract/presets.ts'
import { readContract } from '../contract/text.ts'
import { faultRule, type LiveFaults } from '../faults/faults.ts'
import { readFault } from '../faults/text.ts'
import { type Journal, pageOfEntries } from '../journal.ts'
import { notKnown } from '../problems.ts'
import { listOrShown, withBody } from './body.ts'
import { addChatControl, type ChatControlParts, moment } from './chat.ts'

export const CONTROL = '/_sandbox'

type ControlParts = ChatControlParts & {
  readonly journal: Journal
  readonly contract: LiveContract
  readonly faults: LiveFaults
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
      control.get('/users', () => ({ users: parts.users.all() }))
      addJournal(control, parts.journal)
      addFaults(control, parts.faults)
      addContract(control, parts.contract)
      addClock(control, parts.clock)
      addChatControl(control, parts)
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
  const isLocal = origin === undefined || (URL.canParse(origin) && isLoopback(new URL(origin).hostname))
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
/** Of bodies and addresses in one answer. JSON may make it six times as long, and blocks other callers meanwhile. */
const MAX_JOURNAL_TEXT = 4 * 1024 * 1024
const QUERY = 'Expected after (the number of an entry), limit (1 to 10000) and user, each at most once.'

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

/** Rules as text or as objects. */
const faultList = listOrShown('faults', z.array(z.preprocess(readRule, faultRule)).max(1000))

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

/** Drops `struck` and `spent`, which GET adds: a rule that is set begins anew. */
function readRule(rule: unknown, context: z.RefinementCtx): unknown {
  if (typeof rule === 'string') {
    const read = readFault(rule)
    if (read.rule !== null) return read.rule
    context.addIssue({ code: 'custom', message: read.problems.join('; ') })
    return z.NEVER
  }
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return rule
  return Object.fromEntries(Object.entries(rule).filter(([name]) => name !== 'struck' && name !== 'spent'))
}

const contractBody = z.preprocess(readContractBody, contract)

function addContract(control: FastifyInstance, live: LiveContract): void {
  control.get('/contract', () => live.now)
  control.put(
    '/contract',
    withBody(contractBody, (next) => {
      live.set(next)
      return live.now
    }),
  )
  addClear(control, '/contract', [{ clear: () => live.set({}) }])
}

/** Words as a JSON string, or an object of dimensions, which win over those of its optional `preset`. */
function readContractBody(body: unknown, context: z.RefinementCtx): unknown {
  if (typeof body === 'string') {
    const { contract, problems } = readContract(body)
    for (const [name, message] of problems)
      context.addIssue({ code: 'custom', path: name === '' ? [] : [name], message })
    return contract
  }
  if (typeof body !== 'object' || body === null || !('preset' in body)) return body
  const { preset, ...dimensions } = body
  if (typeof preset === 'string' && isPreset(preset)) return { ...PRESETS[preset].contract, ...dimensions }
  const known = notKnown(typeof preset === 'string' ? preset : '', Object.keys(PRESETS))
  context.addIssue({ code: 'custom', path: ['preset'], message: known })
  return dimensions
}

const duration = z.union(
  [z.number().min(0), z.string().transform(readDuration).pipe(z.number())],
  DURATION_FORM,
)
const clockBody = z
  .strictObject({ now: moment.optional(), advance: duration.optional() })
  .refine(({ now, advance }) => (now === undefined) !== (advance === undefined), 'either "now" or "advance"')
const TOO_FAR = refuse(422, 'invalid', 'The body does not fit.', { advance: 'not beyond 9989' })

function addClock(control: FastifyInstance, clock: SandboxClock): void {
  const shown = () => ({ now: new Date(clock.now()).toISOString() })
  control.get('/clock', shown)
  control.put(
    '/clock',
    withBody(clockBody, ({ now, advance = 0 }, reply) => {
      const next = now ?? clock.now() + advance
      if (!inClockRange(next)) return send(reply, TOO_FAR)
      clock.set(next)
      return shown()
    }),
  )
}

/** `/` clears everything but the contract, which says what kind of service this is. */
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
