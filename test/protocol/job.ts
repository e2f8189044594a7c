// A worker with one job: claim, read, plan, call, ending. Every `yield` is a place where other processes go on,
// where this one may be suspended for any time, and where it may die.
import { type EndingKind, end, endUnmatched } from './endings.ts'
import { type Claim, claim } from './owed.ts'
import { acknowledged, type Desired, desire, forgotten, type Known, planFor, validUntil } from './plan.ts'
import { type Answer, type Call, newRequest, showAnswer, showCall } from './service.ts'
import { type Actor, type Job, pause, type Steps, statementTime, type World } from './world.ts'

/** What a claim has learnt so far. */
type Progress = {
  known: Known
  sure: boolean
  wrote: boolean
  maybeSent: boolean
  looked: boolean
  /** A create was refused with this code: look whether the user exists. */
  refusedCreate: number | null
  calls: number
}

type Turn = 'go on' | EndingKind

type Snapshot = { readonly desired: Desired; readonly replanAt: number | null; readonly known: Known }

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
  const progress: Progress = {
    known: claimed.blind && w.guards.blindResendsHidden ? unhide(seen.known) : seen.known,
    sure: false,
    wrote: false,
    maybeSent: false,
    looked: false,
    refusedCreate: null,
    calls: 0,
  }
  const kind = yield* sync(w, self, { claimed, desired: seen.desired, deadline, progress })
  yield* finish(w, self, { kind, claimed, version, seen, progress })
}

const unhide = (known: Known): Known => (known.remote === 'present' ? { ...known, hidden: null } : known)

function snapshot(w: World, key: number): Snapshot {
  const row = w.rows[key]
  const ledger = w.ledger[key]
  if (row === undefined || ledger === undefined) throw new Error(`no customer ${key}`)
  return { desired: desire(row, w.now), replanAt: validUntil(row, w.now), known: ledger.known }
}

function tryClaim(w: World, self: Actor, { key, token }: Job, since: number): Claim | null {
  const row = w.owed[key]
  if (row === null || row === undefined) return null
  const at = statementTime(w, since)
  const until = at + w.scene.lifetime
  const claimed = claim(row, { key, token, at, until }, w.guards)
  if (claimed !== null) self.claim = { key, until }
  w.history?.say(
    key,
    claimed === null
      ? `${self.name} does not get the claim with token ${token}`
      : `${self.name} claims version ${claimed.version} until t=${until}` +
          `${claimed.unknown ? ', unknown' : ''}${claimed.blind ? ', blind' : ''}`,
  )
  return claimed
}

type SyncParams = {
  readonly claimed: Claim
  readonly desired: Desired
  readonly deadline: number
  readonly progress: Progress
}

function* sync(w: World, self: Actor, params: SyncParams): Steps<EndingKind> {
  const { claimed, desired, deadline, progress } = params
  for (;;) {
    const unknown = claimed.unknown && w.guards.lookupWhenUnknown
    const lookup =
      !progress.looked && (unknown || unaskedRemoval(w, params) || progress.refusedCreate !== null)
    const plan = planFor(desired, progress.known, lookup)
    if (plan.kind === 'reject') return 'reject'
    if (plan.kind === 'none') return 'settle'
    if (plan.kind === 'revoke' && w.scene.brake && w.approved[claimed.key] !== claimed.version) return 'hold'
    const needed = w.scene.timeout + (w.guards.clockGrace ? w.scene.grace : 0)
    if (w.guards.clockCheckBeforeCall && w.now + needed > deadline) return 'release'
    if (progress.calls++ === 4) return 'retry'
    const answer = yield* send(w, self, { key: claimed.key, call: plan.call, progress })
    const turn = learn(w, progress, plan.call, answer)
    if (turn !== 'go on') return turn
    yield
  }
}

/** Somebody else may have registered the customer before we ever called. */
function unaskedRemoval(w: World, { desired, progress }: SyncParams): boolean {
  return w.guards.unaskedRevokeLooksUp && desired.kind === 'removed' && progress.known.remote === 'unasked'
}

type SendParams = { readonly key: number; readonly call: Call; readonly progress: Progress }

/** Null: no answer within the timeout. */
function* send(w: World, self: Actor, { key, call, progress }: SendParams): Steps<Answer | null> {
  let within = w.scene.timeout + w.scene.grace
  if (!w.calm && w.random.chance(w.scene.lateSends)) {
    w.history?.say(key, `${self.name} is suspended between its look at the clock and the sending`)
    self.survives = true
    self.wakeAt = (self.claim?.until ?? w.now) + w.random.int(w.scene.lifetime)
    within = w.scene.timeout - 1
    do yield
    while (!w.calm && !w.actors.some(({ claim }) => claim !== null && claim.until > w.now) && w.random.chance(0.9))
  }
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

function learn(w: World, progress: Progress, call: Call, answer: Answer | null): Turn {
  if (call.verb === 'get') return learnFromRead(w, progress, answer)
  if (answer === null) return w.guards.unknownOnTimeout ? unknown(w, progress, call) : 'retry'
  switch (answer.kind) {
    case 'done':
      progress.known = acknowledged(progress.known, call)
      progress.sure = true
      progress.wrote = true
      return 'settle'
    case 'error':
      return w.guards.unknownOn5xx ? unknown(w, progress, call) : 'retry'
    case 'refused':
      return call.verb === 'create'
        ? refusedCreate(w, progress, answer.code)
        : refusedUpdate(w, progress, answer.code)
    default:
      return 'retry'
  }
}

function unknown(w: World, progress: Progress, call: Call): Turn {
  if (w.guards.unknownForgetsHidden) progress.known = forgotten(progress.known, call)
  return 'unknown'
}

function refusedCreate(w: World, progress: Progress, code: number): Turn {
  if (!w.guards.createRefusedMeansLookup) return code === 429 ? 'retry' : 'reject'
  if (progress.looked) return 'retry'
  progress.refusedCreate = code
  return 'go on'
}

function refusedUpdate(w: World, progress: Progress, code: number): Turn {
  if (code === 404 && w.guards.updateRefused404MeansAbsent) {
    progress.known = { remote: 'absent' }
    progress.sure = true
    return 'go on'
  }
  return code === 429 ? 'retry' : 'reject'
}

function learnFromRead(w: World, progress: Progress, answer: Answer | null): Turn {
  const missing =
    answer?.kind === 'missing' || (answer?.kind === 'error' && !w.guards.failedLookupChangesNothing)
  const { known } = progress
  if (missing) {
    progress.known = { remote: 'absent' }
  } else if (answer?.kind === 'found') {
    const { status, value } = answer
    const hidden = known.remote === 'present' ? known.hidden : null
    const keep = known.remote === 'present' && !w.guards.lookupReplacesMemory
    progress.known = keep ? known : { remote: 'present', status, value, hidden }
  } else {
    return 'retry'
  }
  progress.looked = true
  progress.sure = true
  if (!missing || progress.refusedCreate === null) return 'go on'
  return progress.refusedCreate === 429 ? 'retry' : 'reject'
}

type FinishParams = {
  readonly kind: EndingKind
  readonly claimed: Claim
  readonly version: number
  readonly seen: Snapshot
  readonly progress: Progress
}

function* finish(w: World, self: Actor, params: FinishParams): Steps {
  const { claimed, progress } = params
  const { key } = claimed
  let since = w.now
  yield* pause(w, self, 'answered')
  const matched = ending(w, self, params, since)
  self.claim = null
  const again = matched && !w.calm && w.random.chance(w.scene.lostReplies)
  if (again) {
    yield* pause(w, self, 'ended')
    w.history?.say(key, `${self.name} got no reply and sends the ending again`)
  }
  if (again ? ending(w, self, params, w.now) : matched) return
  if (!progress.maybeSent) return
  since = w.now
  yield* pause(w, self, 'ended')
  const row = w.owed[key]
  if (row === null || row === undefined) return
  endUnmatched(row, statementTime(w, since), w.guards)
  w.history?.say(key, `${self.name}'s ending matched no row: suspect from version ${row.suspectVersion}`)
}

/** The ending's statement with the ledger's in one transaction. */
function ending(w: World, self: Actor, params: FinishParams, since: number): boolean {
  const { kind, claimed, version, seen, progress } = params
  const { key } = claimed
  const { guards, scene } = w
  const row = w.owed[key]
  const ledger = w.ledger[key]
  if (row === null || row === undefined || ledger === undefined) return false
  const at = statementTime(w, since)
  const wasUnknown = row.unknown
  const { sure, wrote } = progress
  const { gap } = scene
  const backoff = w.random.int(scene.backoff + 1)
  const thrownAway = kind === 'settle' && !guards.settleByTokenOnly && row.changeVersion !== version
  const used = thrownAway ? 'release' : kind
  const ended = {
    kind: used,
    claim: claimed,
    version,
    at,
    gap,
    backoff,
    replanAt: seen.replanAt,
    sure,
    wrote,
  }
  const matched = end(row, ended, guards)
  w.history?.say(
    key,
    `${self.name} ends with ${used} for version ${version}` +
      `${matched ? `, due ${row.dueAt}${row.unknown ? ', unknown' : ''}` : ': no such claim'}`,
  )
  if (!matched || thrownAway) return matched
  if (guards.settleRecordsAck || kind !== 'settle') ledger.known = progress.known
  ledger.storedAt = w.now
  ledger.state =
    kind === 'settle' ? 'idle' : kind === 'reject' ? 'rejected' : kind === 'hold' ? 'held' : 'failing'
  ledger.invalid = kind === 'reject' && seen.desired.kind === 'invalid'
  const verify = wasUnknown && !row.unknown && scene.verifies && guards.verifyAfterUnknown
  if (verify) ledger.verifyAt = w.now + scene.verifyDelay
  return matched
}
