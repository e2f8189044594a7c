// The modelled service: users, and requests that arrive late, are applied without an answer, or not at all.
import type { Random } from './random.ts'
import type { Scene } from './scene.ts'

/** `hidden` stands for what a GET does not show (country_code). */
export type User = { readonly status: number; readonly value: number; readonly hidden: number }

export type Call =
  | { readonly verb: 'get' }
  | { readonly verb: 'create'; readonly user: User }
  | { readonly verb: 'update'; readonly change: Partial<User> & { readonly status: number } }

export type Answer =
  | { readonly kind: 'done' | 'unclear' | 'missing' | 'error' | 'not-sent' }
  | { readonly kind: 'found'; readonly status: number; readonly value: number }
  | { readonly kind: 'refused'; readonly code: 400 | 404 | 409 | 429 }

export type Request = {
  readonly key: number
  readonly call: Call
  readonly sentAt: number
  /** It gets on no sooner than `from`, and has had its effect at `arriveBy`. */
  from: number
  readonly arriveBy: number
  /** `answered`: applied, the answer is on its way; `accepted`: answered with an error, applied later. */
  phase: 'flying' | 'answered' | 'accepted' | 'over'
  answer: Answer | null
  /** The answer has reached the worker. */
  delivered: boolean
}

export type Service = {
  readonly users: (User | null)[]
  /** A lagging read may still show these, oldest first. */
  readonly past: { readonly at: number; readonly user: User | null }[][]
  requests: Request[]
}

export function newService(users: (User | null)[]): Service {
  return { users, past: users.map((user) => [{ at: Number.NEGATIVE_INFINITY, user }]), requests: [] }
}

export function put(service: Service, key: number, user: User | null, now: number): void {
  service.users[key] = user
  service.past[key]?.push({ at: now, user })
}

/** `within`: how long the request may be under way; less than the timeout: it is over before its worker gives up. */
export function newRequest(
  key: number,
  call: Call,
  within: number,
  { now, random, scene, calm }: Context,
): Request {
  const isLate = !calm && call.verb !== 'get' && random.chance(scene.lateArrivals)
  const late = isLate ? Math.min(scene.timeout + random.int(scene.grace + 1), within) : 0
  return {
    key,
    call,
    sentAt: now,
    from: now + late,
    arriveBy: now + within,
    phase: 'flying',
    answer: null,
    delivered: false,
  }
}

type Context = {
  readonly now: number
  readonly random: Random
  readonly scene: Scene
  /** Faults have stopped. */
  readonly calm: boolean
}

/** One event in the life of a request. Says what happened, for the history. */
export function proceed(service: Service, request: Request, context: Context): string {
  switch (request.phase) {
    case 'flying':
      return arrive(service, request, context)
    case 'answered':
      request.phase = 'over'
      request.delivered = true
      return 'the answer comes back'
    case 'accepted':
      request.phase = 'over'
      apply(service, request, context)
      return `the service applies it only now: ${show(service.users[request.key])}`
    case 'over':
      return 'nothing'
    default:
      return request.phase satisfies never
  }
}

const FATES = ['refused', 'error', 'error-applied', 'error-accepted', 'lost', 'lost', 'dropped'] as const

const PROMPT_FATES = ['refused', 'error', 'error-applied', 'lost', 'dropped'] as const

function arrive(service: Service, request: Request, context: Context): string {
  const { scene } = context
  const isBad = request.call.verb === 'get' ? scene.badAnswers / 3 : scene.badAnswers
  const bad = !context.calm && context.random.chance(isBad)
  const prompt = request.arriveBy < request.sentAt + scene.timeout
  const fate = bad ? context.random.pick(prompt ? PROMPT_FATES : FATES) : 'fine'
  request.phase = 'answered'
  switch (fate) {
    case 'fine':
      request.answer = apply(service, request, context)
      return `arrives, answered ${showAnswer(request.answer)}: ${show(service.users[request.key])}`
    case 'refused':
      request.answer =
        request.call.verb === 'get'
          ? { kind: 'error' }
          : { kind: 'refused', code: context.random.pick([400, 429] as const) }
      return `arrives, answered ${showAnswer(request.answer)}`
    case 'error':
      request.answer = { kind: 'error' }
      return 'arrives, answered 5xx, not applied'
    case 'error-applied':
      apply(service, request, context)
      request.answer = { kind: 'error' }
      return `arrives, answered 5xx, applied: ${show(service.users[request.key])}`
    case 'error-accepted':
      request.phase = 'accepted'
      request.from = context.now + context.random.int(request.arriveBy - context.now + 1)
      request.answer = { kind: 'error' }
      request.delivered = true
      return 'arrives, answered 5xx, still to be applied'
    case 'lost':
      apply(service, request, context)
      request.phase = 'over'
      return `arrives, the answer is lost: ${show(service.users[request.key])}`
    case 'dropped':
      request.phase = 'over'
      return 'is lost on the way'
    default:
      return fate satisfies never
  }
}

function apply(service: Service, { key, call }: Request, context: Context): Answer {
  const user = service.users[key] ?? null
  const { mute } = context.scene
  const done = { kind: mute ? 'unclear' : 'done' } as const
  switch (call.verb) {
    case 'get':
      return read(service, key, context)
    case 'create':
      if (user !== null) return { kind: 'refused', code: 409 }
      put(service, key, call.user, context.now)
      return done
    case 'update':
      if (user === null) return mute ? done : { kind: 'refused', code: 404 }
      put(service, key, { ...user, ...call.change }, context.now)
      return done
    default:
      return call satisfies never
  }
}

function read(service: Service, key: number, { now, random, scene }: Context): Answer {
  let user = service.users[key] ?? null
  if (scene.lag > 0) {
    const seenAt = now - random.int(scene.lag + 1)
    user = service.past[key]?.findLast((entry) => entry.at <= seenAt)?.user ?? null
  }
  return user === null ? { kind: 'missing' } : { kind: 'found', status: user.status, value: user.value }
}

export function show(user: User | null | undefined): string {
  if (user === null || user === undefined) return 'service: no user'
  return `service: status ${user.status}, value ${user.value}, hidden ${user.hidden}`
}

export function showCall(call: Call): string {
  switch (call.verb) {
    case 'get':
      return 'GET'
    case 'create':
      return `POST ${JSON.stringify(call.user)}`
    case 'update':
      return `PATCH ${JSON.stringify(call.change)}`
    default:
      return call satisfies never
  }
}

export function showAnswer(answer: Answer): string {
  switch (answer.kind) {
    case 'found':
      return `found ${JSON.stringify({ status: answer.status, value: answer.value })}`
    case 'refused':
      return `${answer.code}`
    default:
      return answer.kind
  }
}
