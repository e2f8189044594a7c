// A service that follows the interface document, and answers in unexpected forms.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../../src/model/user.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'
import { chooseOdd } from './odd-answers.ts'
import type { User } from './odd-bodies.ts'
import { answer, type Right } from './odd-wire.ts'

/** One request that arrived, as far as a caller's record can be matched with it. */
export type OddArrival = {
  readonly userId: string
  readonly method: string
  readonly raw: string
  /** Epoch milliseconds. */
  readonly arrivedAt: number
  readonly carriedOut: boolean
  /** Null: the answer was usual. */
  readonly odd: string | null
}

export type OddService = AsyncDisposable & {
  readonly url: string
  readonly users: Map<string, User>
  readonly arrivals: readonly OddArrival[]
  /** The share of calls that are answered oddly, 0 to 1. */
  share: number
}

/** How the service answers when it is not odd; consistent, and none that a preset has. */
export type Dialect = {
  readonly duplicate: 400 | 409 | 422
  readonly notThere: 404 | 410
  readonly done: number
  readonly says: (user: User) => string
  readonly shows: (user: User) => string
}

const SAYS: readonly Dialect['says'][] = [
  () => '',
  () => '"OK"',
  () => '1',
  () => '{}',
  (user) => JSON.stringify({ data: shown(user) }),
  (user) => JSON.stringify({ result: [shown(user)], errors: null }),
  (user) => JSON.stringify([shown(user)]),
  (user) => JSON.stringify({ meta: { status: 'ok' }, user: { ...shown(user), status: String(user.status) } }),
]
const SHOWS: readonly Dialect['shows'][] = [
  (user) => JSON.stringify(shown(user)),
  (user) => `\ufeff${JSON.stringify(shown(user))}`,
  (user) => JSON.stringify({ ...shown(user), id: 7, links: [], created_at: null }, null, 2),
  (user) => JSON.stringify(Object.fromEntries(Object.entries(shown(user)).reverse())),
  (user) => JSON.stringify({ ...shown(user), status: ` ${user.status} ` }),
]

export async function startOddService(seed: number): Promise<OddService> {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const dialect: Dialect = {
    duplicate: pick([400, 409, 422] as const),
    notThere: pick([404, 410] as const),
    done: pick([200, 201, 202, 203, 207, 208, 226, 299]),
    says: pick(SAYS),
    shows: pick(SHOWS),
  }
  const users = new Map<string, User>()
  const arrivals: OddArrival[] = []

  const server = createServer(async (request, response) => {
    const arrivedAt = Date.now()
    const raw = await readAll(request)
    // The caller has gone in the middle of it: that is no request.
    if (raw !== null) await handle({ request, raw, arrivedAt }, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const service: OddService = {
    url: `http://127.0.0.1:${port}`,
    users,
    arrivals,
    share: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return service

  async function handle({ request, raw, arrivedAt }: Arrived, response: ServerResponse): Promise<void> {
    const method = request.method ?? ''
    const body = parse(raw)
    const userId = method === 'POST' ? String(body.user_id) : idOf(request.url ?? '')
    const isOdd = random() < service.share
    if (isOdd && random() < 0.2) await sleep(random() * LATE_MS)
    const before = users.get(userId) ?? null
    const { right, after, stores } = decide(dialect, { method, userId, body, before })
    const odd = isOdd ? chooseOdd({ method, userId, before, after, stores, pick }) : null
    const undone = odd?.carries === 'no' || (odd?.carries === 'either' && random() < 0.5)
    const carriedOut = stores && !undone
    arrivals.push({ userId, method, raw, arrivedAt, carriedOut, odd: odd?.name ?? null })
    if (carriedOut && after) users.set(userId, after)
    if (isOdd && random() < 0.2) await sleep(random() * LATE_MS)
    if (odd) odd.send(response, right)
    else answer(response, right)
  }
}

/** An answer that is late, or a request that is carried out late. */
const LATE_MS = 80

type Arrived = { readonly request: IncomingMessage; readonly raw: string; readonly arrivedAt: number }
type Case = {
  readonly method: string
  readonly userId: string
  readonly body: User
  readonly before: User | null
}
type Decided = { readonly right: Right; readonly after: User | null; readonly stores: boolean }

function decide(dialect: Dialect, { method, userId, body, before }: Case): Decided {
  const refused = (status: number): Decided => ({ right: rightly(status, ''), after: before, stores: false })
  if (method === 'POST' && before) return refused(dialect.duplicate)
  if (method !== 'POST' && !before) return refused(dialect.notThere)
  if (method === 'GET')
    return { right: rightly(200, dialect.shows(before ?? {})), after: before, stores: false }
  const { user_id: _id, ...given } = body
  const after = complete(userId, method === 'PATCH' ? { ...before, ...given } : given)
  return { right: rightly(dialect.done, dialect.says(after)), after, stores: true }
}

function rightly(status: number, text: string): Right {
  return { status, text, headers: { 'content-type': 'application/json' } }
}

function complete(userId: string, given: User): User {
  const fields = OPTIONAL_FIELDS.map((field) => [field, given[field] === '' ? null : (given[field] ?? null)])
  return { user_id: userId, status: given.status, ...Object.fromEntries(fields) }
}

/** Section 2.6, rules 1 and 3. */
function shown(user: User): User {
  const { [UNVERIFIABLE_FIELD]: _hidden, ...rest } = user
  const { mobile_phone: number, mobile_phone_prefix: prefix } = user
  return { ...rest, mobile_phone: number === null ? null : `${prefix ?? ''}${number}` }
}

async function readAll(request: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of request) pieces.push(piece as Buffer)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ECONNRESET') throw error
    return null
  }
  return Buffer.concat(pieces).toString()
}

function parse(raw: string): User {
  try {
    return JSON.parse(raw) as User
  } catch {
    return {}
  }
}

function idOf(url: string): string {
  return decodeURIComponent(url.split('/').at(-1) ?? '')
}
