import { isUndone } from './check.ts'
import { check, earliest, mayCheck } from './check-customer.ts'
import { change, commit, edit, loseUser } from './customers.ts'
import { work } from './job.ts'
import { isQuiet, isUnderWay } from './owed.ts'
import { dispatch, drain, operate, paused, recheck, replan, sweep } from './processes.ts'
import { put } from './service.ts'
import { type Actor, kill, moveClock, requestEvent, spawn, suspend, type World } from './world.ts'

/** A kind of event: how likely it is now (0: impossible) and what it does. */
type Event = { readonly weight: (w: World) => number; readonly occur: (w: World) => void }

/** Several processes of a kind at once are possible, but seldom worth a step. */
function starting(w: World, kind: string, weight: number): number {
  const running = w.actors.some((actor) => actor.name.startsWith(kind) && (w.calm || w.now >= actor.wakeAt))
  return running ? (w.calm ? 0 : 0.5) : weight
}

function ready(w: World, { wakeAt, wait }: Actor): boolean {
  if (w.now < wakeAt) return false
  return wait === undefined || wait.delivered || w.now >= wait.sentAt + w.scene.timeout
}

const EVENTS: readonly Event[] = [
  { weight: (w) => (w.actors.some((actor) => ready(w, actor)) ? 40 : 0), occur: step },
  { weight: (w) => (w.service.requests.some((r) => r.from <= w.now) ? w.scene.network : 0), occur: travel },
  {
    weight: (w) => (w.outbox.some((row) => row.visible) ? starting(w, 'drain', 8) : 0),
    occur: (w) => void spawn(w, 'drain', null, (self) => drain(w, self)),
  },
  {
    weight: (w) => (someDue(w) ? starting(w, 'dispatch', 8) : 0),
    occur: (w) => void spawn(w, 'dispatch', null, (self) => dispatch(w, self)),
  },
  { weight: (w) => (w.queue.length > 0 ? 10 : 0), occur: takeJob },
  {
    weight: (w) => (somePassedReplan(w) ? starting(w, 'replan', 5) : 0),
    occur: (w) => void spawn(w, 'replan', null, (self) => replan(w, self)),
  },
  {
    weight: (w) => (someVerification(w) ? starting(w, 'recheck', 5) : 0),
    occur: (w) => void spawn(w, 'recheck', null, (self) => recheck(w, self)),
  },
  {
    weight: (w) => (pausedKeys(w).length > 0 ? 6 : 0),
    occur: (w) => startFor(w, pausedKeys(w), 'operator', operate),
  },
  {
    weight: (w) => (checkKeys(w).length > 0 ? w.scene.checks : 0),
    occur: (w) => startFor(w, checkKeys(w), 'check', check),
  },
  { weight: (w) => (w.quiet ? 0 : w.calm ? 1 : w.scene.haste), occur: tick },
]

/** Stops when the run is to come to rest. */
const TROUBLE: readonly Event[] = [
  { weight: (w) => w.scene.changes, occur: change },
  {
    weight: (w) => (w.transactions.length > 0 ? 4 : 0),
    occur: (w) => {
      const open = w.transactions[w.random.int(w.transactions.length)]
      if (open !== undefined) commit(w, open)
    },
  },
  { weight: (w) => (w.actors.length > 0 ? w.scene.crash : 0), occur: (w) => randomActor(w, kill) },
  { weight: (w) => (w.actors.length > 0 ? w.scene.suspend : 0), occur: (w) => randomActor(w, suspend) },
  { weight: (w) => (w.recent.length > 0 ? w.scene.duplicate : 0), occur: duplicate },
  { weight: (w) => (w.queue.length > 0 ? w.scene.loseJobs : 0), occur: loseJobs },
  { weight: (w) => w.scene.serverCrash, occur: crashServer },
  {
    weight: (w) => starting(w, 'sweep', w.scene.sweep),
    occur: (w) => void spawn(w, 'sweep', null, (self) => sweep(w, self)),
  },
  { weight: (w) => (w.scene.verifies ? w.scene.edits : 0), occur: edit },
  {
    weight: (w) => (w.scene.forgets ? 1.5 : 0),
    occur: (w) =>
      loseUser(w, (key) => {
        put(w.service, key, null, w.now)
        w.lost[key] = true
      }),
  },
]

const ALL: readonly Event[] = [...EVENTS, ...TROUBLE]

/** One random event. False when only the passing of time is left. */
export function happen(w: World): boolean {
  const events = w.calm ? EVENTS : ALL
  const weights: number[] = []
  let total = 0
  for (const event of events) {
    const weight = event.weight(w)
    weights.push(weight)
    total += weight
  }
  if (w.calm && total === (w.quiet ? 0 : 1)) return false
  let at = w.random.int(total * 16) / 16
  for (const [i, weight] of weights.entries()) {
    at -= weight
    if (at < 0) {
      events[i]?.occur(w)
      return true
    }
  }
  return true
}

function step(w: World): void {
  const able = w.actors.filter((actor) => ready(w, actor))
  const actor = able[w.random.int(able.length)]
  if (actor === undefined) return
  const { done, value } = actor.steps.next()
  if (done === true) w.actors = w.actors.filter((other) => other !== actor)
  else actor.wait = value
}

function travel(w: World): void {
  const able = w.service.requests.filter((request) => request.from <= w.now)
  const request = able[w.random.int(able.length)]
  if (request !== undefined) requestEvent(w, request)
}

/** Not always the oldest: jobs are delayed. */
function takeJob(w: World): void {
  const [job] = w.queue.splice(w.random.chance(0.7) ? 0 : w.random.int(w.queue.length), 1)
  if (job === undefined) return
  const actor = spawn(w, 'worker', job.key, (self) => work(w, self, job))
  w.history?.say(job.key, `${actor.name} takes the job with token ${job.token}`)
}

function randomActor(w: World, act: (w: World, actor: Actor) => void): void {
  const actor = w.actors[w.random.int(w.actors.length)]
  if (actor !== undefined) act(w, actor)
}

function duplicate(w: World): void {
  const job = w.recent[w.random.int(w.recent.length)]
  if (job === undefined) return
  w.queue.push(job)
  w.history?.say(job.key, `the queue delivers the job with token ${job.token} once more`)
}

function loseJobs(w: World): void {
  w.history?.say(null, 'the queue loses all jobs')
  w.queue = []
}

/**
 * Every commit waits for the disk, so the database loses open transactions only: the application's, and those that
 * note changes. Other processes go on with what they have read, and their calls are still under way.
 */
function crashServer(w: World): void {
  w.history?.say(null, 'the database crashes')
  for (const { outbox } of w.transactions) w.outbox = w.outbox.filter((row) => row !== outbox)
  w.transactions = []
  for (const actor of w.actors.filter(({ name }) => name.startsWith('drain'))) kill(w, actor)
  if (w.guards.claimSurvivesCrash || w.beforeClaim === null) return
  const { key, row } = w.beforeClaim
  if (w.owed[key]?.callToken === w.owed[key]?.token) w.owed[key] = row
}

function someDue(w: World): boolean {
  return w.owed.some((row) => row !== null && row.dueAt !== null && row.dueAt <= w.now)
}

function somePassedReplan(w: World): boolean {
  return w.owed.some(
    (row) => row !== null && row.replanAt !== null && row.replanAt <= w.now && !isUnderWay(row),
  )
}

function someVerification(w: World): boolean {
  return w.owed.some(
    (row) =>
      row !== null &&
      row.verifyLeft > 0 &&
      row.verifyAt !== null &&
      row.verifyAt <= w.now &&
      !isUnderWay(row),
  )
}

function pausedKeys(w: World): number[] {
  return w.rows
    .map((_, key) => key)
    .filter((key) => paused(w, key) && !(w.calm && busyFor(w, 'operator', key)))
}

/** During trouble, any idle customer is checked now and then; after it, the customers that another system has changed. */
function checkKeys(w: World): number[] {
  if (!w.scene.verifies || (w.calm && !w.scene.repairs)) return []
  const wanted = (key: number) =>
    !w.calm || (isQuiet(w.owed[key] ?? null, w.now) && isUndone(w, key) && !isCaptured(w, key))
  return [...w.ledger.keys()].filter((key) => mayCheck(w, key) && wanted(key) && !busyFor(w, 'check', key))
}

function isCaptured(w: World, key: number): boolean {
  return w.outbox.some((change) => change.key === key && change.visible)
}

function busyFor(w: World, kind: string, key: number): boolean {
  return w.actors.some((actor) => actor.key === key && actor.name.startsWith(kind))
}

type KeyProcess = typeof operate

function startFor(w: World, keys: readonly number[], kind: string, process: KeyProcess): void {
  const key = keys[w.random.int(keys.length)]
  if (key === undefined) return
  const together = !w.calm && kind === 'operator' && w.random.chance(0.5) ? 2 : 1
  for (let i = 0; i < together; i++) spawn(w, kind, key, (self) => process(w, self, key))
}

function tick(w: World): void {
  if (w.random.chance(0.7) || !moveToNextMoment(w)) moveClock(w, w.now + 1)
}

/** To the next time at which something can happen; false when there is none. */
export function moveToNextMoment(w: World): boolean {
  let next = Number.POSITIVE_INFINITY
  const consider = (at: number | null) => {
    if (at !== null && at > w.now && at < next) next = at
  }
  for (const row of w.owed) {
    consider(row?.dueAt ?? null)
    consider(row?.replanAt ?? null)
    consider(row?.verifyAt ?? null)
    consider(row?.checkUntil ?? null)
  }
  for (const key of w.ledger.keys()) if (w.scene.verifies && isUndone(w, key)) consider(earliest(w, key))
  for (const { wakeAt, wait } of w.actors) {
    consider(wakeAt)
    if (wait !== undefined) consider(wait.sentAt + w.scene.timeout)
  }
  for (const { from, arriveBy } of w.service.requests) {
    consider(from)
    consider(arriveBy)
  }
  if (next === Number.POSITIVE_INFINITY) return false
  moveClock(w, next)
  return true
}
