// The service in memory, without HTTP: what it holds, what it answers, and what goes wrong on the way. Its
// habits are those that the interface document leaves open.
import { normalForm } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import type { Reply, ReplyBody } from '../../src/service/client.ts'
import { CallError } from '../../src/service/errors.ts'
import type { UsersClient } from '../../src/service/users.ts'

export type Body = Readonly<Record<string, unknown>>
export type Method = 'POST' | 'GET' | 'PUT' | 'PATCH'

/**
 * `not-sent`: no byte left. `lost`: no answer, and whether it was carried out is up to `applied`. `killed`: our
 * process dies there. A status instead of the right answer, with or without effect. `late`: it is carried out so much
 * later (ms); needs a world.
 */
export type Fault =
  | { readonly kind: 'not-sent' }
  | { readonly kind: 'lost'; readonly applied: boolean }
  | { readonly kind: 'killed'; readonly applied: boolean }
  | { readonly kind: 'late'; readonly afterMs: number; readonly outcome: 'lost' | 'killed' | 500 }
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly applied: boolean
      readonly body?: ReplyBody
      readonly retryAfterMs?: number
    }

export type Habits = {
  /** The answer to a create of a user that exists; `upsert` takes it for a full update. */
  readonly duplicate: 400 | 409 | 422 | 500 | 'upsert'
  /** `null`: 200 with JSON null to a GET and to an update, and nothing is done. */
  readonly notThere: 404 | 410 | 'null'
  /** A GET shows the prefix and the number joined (section 2.6, rule 3). */
  readonly joinsPhone: boolean
  readonly statusAsText: boolean
  /** How a GET shows a field without a value. */
  readonly nothing: 'null' | 'empty' | 'absent'
  /** The answer to a write that was carried out. */
  readonly answers: 'none' | 'object' | 'user' | 'null'
  /** Values that are not taken; it is not said which. */
  readonly refuses: (field: OptionalField, value: unknown) => boolean
  /** How that is answered. */
  readonly refusal: 422 | 500
  /** A field that no GET shows, as if it had no value. */
  readonly hides?: OptionalField
  /** How a write with another user's e-mail address is answered; null: it is taken. */
  readonly taken: { readonly status: number; readonly body: ReplyBody } | null
}

export const PLAIN: Habits = {
  duplicate: 409,
  notThere: 404,
  joinsPhone: false,
  statusAsText: false,
  nothing: 'null',
  answers: 'none',
  refuses: () => false,
  refusal: 422,
  taken: null,
}

export type Stored = Readonly<Record<string, unknown>> & { readonly status: unknown }
export type Call = {
  readonly method: Method
  readonly userId: string
  readonly body: Body | null
  readonly before: Stored | null
  readonly after: Stored | null
}

export class Killed extends Error {}

/** Where time passes: each call takes some, and what is late happens then. */
export type World = {
  readonly now: () => number
  /** The time that one call takes to the service, or that we wait for an answer that never comes. */
  readonly pass: (how: 'call' | 'timeout') => void
  readonly at: (time: number, what: () => void) => void
}

const TIMELESS: World = {
  now: () => 0,
  pass: () => undefined,
  at: () => {
    throw new Error('nothing is late without a world')
  },
}

export type PureService = {
  readonly client: UsersClient
  readonly users: Map<string, Stored>
  readonly calls: Call[]
  /** The next calls meet these, one each. */
  readonly faults: (Fault | null)[]
  /** The next GETs show what was there so long ago (ms). */
  readonly lags: number[]
}

export function makePureService(habits: Partial<Habits> = {}, world: World = TIMELESS): PureService {
  const its = { ...PLAIN, ...habits }
  const users = new Map<string, Stored>()
  const calls: Call[] = []
  const faults: (Fault | null)[] = []
  const lags: number[] = []
  const past: { readonly until: number; readonly user: Stored | undefined }[] = []

  async function call(method: Method, userId: string, body: Body | null): Promise<Reply> {
    world.pass('call')
    const before = users.get(userId) ?? null
    const fault = faults.shift() ?? null
    if (fault?.kind === 'late' && method !== 'GET')
      world.at(world.now() + fault.afterMs, () => void answer(method, userId, body))
    const right =
      fault === null || ('applied' in fault && fault.applied) ? answer(method, userId, body) : null
    calls.push({ method, userId, body, before, after: users.get(userId) ?? null })
    if (right && !fault) return reply(right)
    if (fault === null || fault.kind === 'not-sent') throw new CallError('refused', 'no')
    if (fault.kind === 'killed' || (fault.kind === 'late' && fault.outcome === 'killed')) throw new Killed()
    if (fault.kind === 'lost' || (fault.kind === 'late' && fault.outcome === 'lost')) {
      world.pass('timeout')
      throw new CallError('timeout', 'maybe')
    }
    if (fault.kind === 'late') return reply({ status: 500, body: { kind: 'none' } })
    const wait = fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs }
    return { ...reply({ status: fault.status, body: fault.body ?? { kind: 'none' } }), ...wait }
  }

  type Answer = { readonly status: number; readonly body: ReplyBody }

  function answer(method: Method, userId: string, body: Body | null): Answer {
    const user = method === 'GET' ? seenNow(userId) : users.get(userId)
    if (method !== 'POST' && !user && its.notThere === 'null') return { status: 200, body: json(null) }
    if (method === 'GET')
      return user
        ? { status: 200, body: json(shown(userId, user)) }
        : { status: Number(its.notThere), body: json({}) }
    if (method !== 'POST' && !user) return { status: Number(its.notThere), body: { kind: 'none' } }
    if (method === 'POST' && user && its.duplicate !== 'upsert')
      return { status: its.duplicate, body: { kind: 'none' } }
    if (
      OPTIONAL_FIELDS.some((field) => (body?.[field] ?? null) !== null && its.refuses(field, body?.[field]))
    )
      return { status: its.refusal, body: json({ error: 'invalid' }) }
    if (its.taken && isTaken(userId, body?.email)) return its.taken
    const { user_id: _id, ...given } = body ?? {}
    const stored = method === 'PATCH' ? { ...user, ...given } : given
    past.push({ until: world.now(), user })
    users.set(userId, stored as Stored)
    return { status: method === 'POST' ? 201 : 200, body: done(userId, stored as Stored) }
  }

  function isTaken(userId: string, email: unknown): boolean {
    const wanted = normalForm('email', email)
    if (wanted === null) return false
    return [...users].some(([other, user]) => other !== userId && normalForm('email', user.email) === wanted)
  }

  /** A GET may show an earlier state. */
  function seenNow(userId: string): Stored | undefined {
    const at = world.now() - (lags.shift() ?? 0)
    const then = past.find(({ until }) => until > at)
    return then ? then.user : users.get(userId)
  }

  function done(userId: string, user: Stored): ReplyBody {
    if (its.answers === 'none') return { kind: 'none' }
    if (its.answers === 'null') return json(null)
    return json(its.answers === 'user' ? shown(userId, user) : { ok: true })
  }

  function shown(userId: string, user: Stored): Body {
    const body: Record<string, unknown> = {
      user_id: userId,
      status: its.statusAsText ? String(user.status) : user.status,
    }
    for (const field of OPTIONAL_FIELDS) {
      if (field === 'country_code') continue
      const value = user[field] === '' || field === its.hides ? null : (user[field] ?? null)
      if (value !== null) body[field] = value
      else if (its.nothing !== 'absent') body[field] = its.nothing === 'null' ? null : ''
    }
    if (its.joinsPhone && typeof body.mobile_phone === 'string' && body.mobile_phone !== '')
      body.mobile_phone = `${body.mobile_phone_prefix ?? ''}${body.mobile_phone}`
    return body
  }

  return {
    users,
    calls,
    faults,
    lags,
    client: {
      createUser: (body) => call('POST', body.user_id, body),
      retrieveUser: (userId) => call('GET', userId, null),
      replaceUser: (userId, body) => call('PUT', userId, body),
      updateUser: (userId, body) => call('PATCH', userId, body),
      close: async () => undefined,
    },
  }
}

function json(value: unknown): ReplyBody {
  return { kind: 'json', value: structuredClone(value) }
}

function reply({ status, body }: { readonly status: number; readonly body: ReplyBody }): Reply {
  return { status, body, durationMs: 1 }
}
