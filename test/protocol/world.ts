// The modelled world and its virtual clock. Everything random comes from one seed.
import type { OutboxRow, Row, Transaction } from './customers.ts'
import type { Guards } from './guards.ts'
import type { Owed } from './owed.ts'
import type { Ledger } from './plan.ts'
import { type Random, seeded } from './random.ts'
import { drawScene, type Scene, type Spot, THEMES, type Theme } from './scene.ts'
import { newService, proceed, type Request, type Service, showCall } from './service.ts'

export type Job = { readonly key: number; readonly token: number }

/** A process waits for the answer to its request, or may go on at any time. */
export type Wait = Request | undefined
export type Steps<T = void> = Generator<Wait, T, void>

/** A process made of atomic steps; between two of them it can be suspended or die. */
export type Actor = {
  readonly name: string
  readonly key: number | null
  readonly steps: Steps
  wait: Wait
  /** Suspended until then. */
  wakeAt: number
  dead: boolean
  /** Comes back for certain (see `lateSends`). */
  survives: boolean
  claim: { readonly key: number; readonly until: number } | null
}

export const NAMES = ['ana', 'bea', 'cai'] as const

export type World = {
  readonly random: Random
  readonly guards: Guards
  readonly scene: Scene
  now: number
  /** Changes and faults have stopped. */
  calm: boolean
  /** The clock moves only when there is nothing else to do, so that no call takes too long. */
  quiet: boolean
  readonly rows: Row[]
  transactions: Transaction[]
  outbox: OutboxRow[]
  nextOutboxId: number
  nextValue: number
  /** Used only when the outbox is read the wrong way. */
  outboxCursor: number
  readonly owed: (Owed | null)[]
  readonly ledger: Ledger[]
  /** The version of each customer that a person let pass the brake. */
  readonly approved: (number | null)[]
  readonly service: Service
  /** Users that the service lost. */
  readonly lost: boolean[]
  /** When another system last changed the user at the service. */
  readonly editedAt: (number | null)[]
  /** Customers that two checks have found to differ. */
  readonly confirmed: boolean[]
  /** The value that a sync has written, or seen, last. */
  readonly acknowledged: (number | null)[]
  /** rollcall undid a change of another system, although it should only report it. */
  readonly overstepped: boolean[]
  /** The row before the last claim. */
  beforeClaim: { readonly key: number; readonly row: Owed } | null
  queue: Job[]
  /** Jobs that may be delivered again. */
  recent: Job[]
  actors: Actor[]
  nextToken: number
  nextActor: number
  readonly history: History | undefined
}

export type History = { say(key: number | null, text: string): void; readonly lines: string[] }

export type WorldParams = {
  readonly seed: number
  readonly guards: Guards
  /** Absent: the seed chooses. */
  readonly theme?: Theme
  readonly withHistory?: boolean
}

export function newWorld({ seed, guards, theme, withHistory = false }: WorldParams): World {
  const random = seeded(seed)
  const scene = drawScene(random, theme ?? random.pick(THEMES))
  const keys = Array.from({ length: scene.customers }, (_, key) => key)
  const users = keys.map(() =>
    scene.adopts && random.chance(0.7) ? { status: 2, value: 1, hidden: 0 } : null,
  )
  const lines: string[] = []
  const world: World = {
    random,
    guards,
    scene,
    now: 1,
    calm: false,
    quiet: false,
    rows: keys.map(() => ({ main: { kind: 'removed' }, hidden: 0 })),
    transactions: [],
    outbox: [],
    nextOutboxId: 1,
    nextValue: 10,
    outboxCursor: 0,
    owed: keys.map(() => null),
    ledger: keys.map(() => ({
      known: { remote: 'unasked' },
      state: 'idle',
      desired: null,
      invalid: false,
      storedAt: 0,
      acknowledgedAt: Number.NEGATIVE_INFINITY,
      finding: null,
    })),
    approved: keys.map(() => null),
    service: newService(users),
    lost: keys.map(() => false),
    editedAt: keys.map(() => null),
    confirmed: keys.map(() => false),
    acknowledged: keys.map(() => null),
    overstepped: keys.map(() => false),
    beforeClaim: null,
    queue: [],
    recent: [],
    actors: [],
    nextToken: 100,
    nextActor: 1,
    history: withHistory
      ? {
          lines,
          say: (key, text) => {
            const who = key === null ? '' : `${NAMES[key]}: `
            lines.push(`t=${world.now}`.padEnd(7) + who + text)
          },
        }
      : undefined,
  }
  return world
}

/** now() of a statement that began at `since` and takes effect now: it may have waited for a lock. */
export function statementTime(w: World, since: number): number {
  return since + w.random.int(w.now - since + 1)
}

export function requestEvent(w: World, request: Request): void {
  const said = proceed(w.service, request, w)
  w.history?.say(request.key, `  ${showCall(request.call)} (sent t=${request.sentAt}) ${said}`)
  if (request.phase === 'over') {
    w.service.requests = w.service.requests.filter((other) => other !== request)
  }
}

/** The clock passes no request's last moment without the request having had its effect. */
export function moveClock(w: World, to: number): void {
  for (const request of [...w.service.requests]) {
    if (request.arriveBy > to) continue
    w.now = Math.max(w.now, request.arriveBy)
    while (request.phase !== 'over') requestEvent(w, request)
  }
  w.now = to
}

/** A new process; `key` is the customer that it works for, if it is one. */
export function spawn(w: World, kind: string, key: number | null, steps: (self: Actor) => Steps): Actor {
  const self: Actor = {
    name: `${kind} ${w.nextActor++}`,
    key,
    steps: begin(() => steps(self)),
    wait: undefined,
    wakeAt: 0,
    dead: false,
    survives: false,
    claim: null,
  }
  w.actors.push(self)
  return self
}

/** Calls the generator function at the first step only, when the actor that it gets is complete. */
function* begin(steps: () => Steps): Steps {
  yield* steps()
}

/** A place between two steps. Where a run has its weak spots, processes often stop, for a while or for ever. */
export function* pause(w: World, self: Actor, spot: Spot): Steps {
  if (!w.calm && w.scene.stopsAt.includes(spot) && w.random.chance(0.3)) suspend(w, self)
  if (!w.calm && w.scene.diesAt.includes(spot) && w.random.chance(0.2)) kill(w, self)
  yield
}

export function kill(w: World, actor: Actor): void {
  if (actor.survives) return
  actor.dead = true
  w.actors = w.actors.filter((other) => other !== actor)
  w.history?.say(actor.key, `${actor.name} dies`)
}

/** For any time; the last moment at which a claim's call may be sent is the most telling. */
export function suspend(w: World, actor: Actor): void {
  const { lifetime, timeout, grace } = w.scene
  const edge = (actor.claim?.until ?? 0) - timeout - w.random.int(grace + 2)
  const atEdge = edge > w.now && w.random.chance(0.7)
  actor.wakeAt = Math.max(actor.wakeAt, atEdge ? edge : w.now + 1 + w.random.int(2 * lifetime))
  w.history?.say(actor.key, `${actor.name} is suspended until t=${actor.wakeAt}`)
}
