// A worker with one job: claim, read, plan, call, ending. Every `yield` is a place where other processes go on,
// where this one may be suspended for any time, and where it may die.
import type { EndingKind } from './endings.ts'
import { finish } from './finish.ts'
import { learn, type Progress, startProgress } from './learn.ts'
import { type Claim, claim } from './owed.ts'
import { type Desired, type Known, planFor } from './plan.ts'
import { type Answer, type Call, newRequest, showAnswer, showCall } from './service.ts'
import { snapshot } from './snapshot.ts'
import { type Actor, type Job, pause, type Steps, statementTime, type World } from './world.ts'

export function* work(w: World, self: Actor, job: Job): Steps {
  const { key } = job
  const sentAt = w.now
  const early = w.guards.readAfterClaim ? undefined : snapshot(w, key)
  yield* pause(w, self, 'taken')
  const claimed = tryClaim(w, self, job, sentAt)
  if (claimed === null) return
  yield* pause(w, self, 'claimed')
  const deadline = (w.guards.clockFromBeforeClaim ? sentAt : w.now) + w.scene.lifetime
  const seen = early ?? snapshot(w, key)
  w.history?.say(
    key,
    `${self.name} reads ${JSON.stringify(seen.desired)}, remembers ${JSON.stringify(seen.known)}`,
  )
  yield* pause(w, self, 'read')
  const version = w.guards.versionBeforeRow ? claimed.version : (w.owed[key]?.changeVersion ?? 0)
  const known = claimed.hiddenUnknown && w.guards.hiddenUnknownResends ? unhide(seen.known) : seen.known
  const progress = startProgress(known)
  const { desired, acknowledgedAt } = seen
  const kind = yield* sync(w, self, { claimed, desired, deadline, progress, acknowledgedAt })
  yield* finish(w, self, { kind, claimed, version, seen, progress })
}

const unhide = (known: Known): Known => (known.remote === 'present' ? { ...known, hidden: null } : known)

function tryClaim(w: World, self: Actor, { key, token }: Job, since: number): Claim | null {
  const row = w.owed[key]
  if (row === null || row === undefined) return null
  const at = statementTime(w, since)
  const until = at + w.scene.lifetime
  const before = { ...row }
  const claimed = claim(row, { key, token, at, until }, w.guards)
  if (claimed !== null) {
    self.claim = { key, until }
    w.beforeClaim = { key, row: before }
  }
  w.history?.say(
    key,
    claimed === null
      ? `${self.name} does not get the claim with token ${token}`
      : `${self.name} claims version ${claimed.version} until t=${until}` +
          `${claimed.unknown ? ', unknown' : ''}${claimed.hiddenUnknown ? ', hiddenUnknown' : ''}`,
  )
  return claimed
}

type SyncParams = {
  readonly claimed: Claim
  readonly desired: Desired
  readonly deadline: number
  readonly progress: Progress
  readonly acknowledgedAt: number
}

function* sync(w: World, self: Actor, params: SyncParams): Steps<EndingKind> {
  const { claimed, desired, deadline, progress } = params
  for (;;) {
    const unknown = claimed.unknown && w.guards.lookupWhenUnknown
    const lookup =
      !progress.lookedUp && (unknown || unaskedRemoval(w, params) || progress.refusedCreate !== null)
    const plan = planFor(desired, progress.known, lookup)
    if (plan.kind === 'reject') return 'reject'
    if (plan.kind === 'none') return 'settle'
    if (plan.kind === 'revoke' && w.scene.brake && w.approved[claimed.key] !== claimed.version) return 'hold'
    const needed = w.scene.timeout + (w.guards.clockGrace ? w.scene.grace : 0)
    if (w.guards.clockCheckBeforeCall && w.now + needed > deadline) return 'release'
    if (plan.kind === 'call' && plan.call.verb === 'get' && w.guards.lookupWaitsForLag) {
      progress.tooEarly = Math.max(0, params.acknowledgedAt + w.scene.lag + 1 - w.now)
      if (progress.tooEarly > 0) return 'release'
    }
    if (progress.calls++ === 4) return 'retry'
    if (undoes(w, claimed.key, plan.call) && !progress.lookedUp) w.overstepped[claimed.key] = true
    const answer = yield* send(w, self, { key: claimed.key, call: plan.call, progress })
    const turn = learn(w.guards, progress, plan.call, answer)
    if (turn !== 'go on') return turn
    yield
  }
}

/** Writes once more what was written already, though findings are only reported. */
function undoes({ scene, acknowledged }: World, key: number, call: Call): boolean {
  if (scene.repairs || call.verb !== 'update') return false
  return call.change.value !== undefined && call.change.value === acknowledged[key]
}

/** Another system may have registered the customer before our first call. */
function unaskedRemoval(w: World, { desired, progress }: SyncParams): boolean {
  return w.guards.unaskedRevokeLooksUp && desired.kind === 'removed' && progress.known.remote === 'unasked'
}

/**
 * Suspended between its last reading of the clock and the sending, until beyond its lifetime. It mostly sleeps until
 * another process is at work, because only then it does harm. It always resumes, because only it knows its calls.
 */
function* oversleep(w: World, self: Actor, key: number): Steps {
  w.history?.say(key, `${self.name} is suspended between its look at the clock and the sending`)
  self.survives = true
  self.wakeAt = (self.claim?.until ?? w.now) + w.random.int(w.scene.lifetime)
  const busy = w.random.chance(0.5)
    ? () => w.actors.some(({ claim }) => claim !== null && claim.key === key && claim.until > w.now)
    : () => w.service.requests.some((r) => r.key === key && r.call.verb !== 'get' && r.phase === 'answered')
  do yield
  while (!w.calm && !busy() && w.random.chance(0.96))
}

type SendParams = { readonly key: number; readonly call: Call; readonly progress: Progress }

/** Null: no answer within the timeout. */
function* send(w: World, self: Actor, { key, call, progress }: SendParams): Steps<Answer | null> {
  const late = !w.calm && w.random.chance(w.scene.lateSends)
  if (late) yield* oversleep(w, self, key)
  const within = w.scene.timeout + w.scene.grace
  if (!w.calm && w.random.chance(w.scene.badAnswers / 6)) return { kind: 'not-sent' }
  if (call.verb !== 'get') progress.maybeSent = true
  const request = newRequest(key, call, within, w)
  w.service.requests.push(request)
  w.history?.say(key, `${self.name} sends ${showCall(call)}`)
  yield request
  const expired = w.now >= request.sentAt + w.scene.timeout
  const answer = request.delivered && !(expired && w.random.chance(0.5)) ? request.answer : null
  w.history?.say(key, `${self.name} gets ${answer === null ? 'no answer in time' : showAnswer(answer)}`)
  return answer
}
