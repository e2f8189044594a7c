// How a claim ends: the ending's statement with the ledger's, once more when its reply was lost, and what
// follows when it matched no row.
import { type EndingKind, end, endUnmatched } from './endings.ts'
import type { Progress } from './learn.ts'
import type { Claim } from './owed.ts'
import type { Field, Known } from './plan.ts'
import type { Snapshot } from './snapshot.ts'
import { type Actor, pause, type Steps, statementTime, type World } from './world.ts'

type FinishParams = {
  readonly kind: EndingKind
  readonly claimed: Claim
  readonly version: number
  readonly seen: Snapshot
  readonly progress: Progress
}

export function* finish(w: World, self: Actor, params: FinishParams): Steps {
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
  const at = statementTime(w, since)
  const late = progress.unclear ? w.scene.lag + 1 : w.scene.timeout + w.scene.grace
  const until = params.kind === 'unknown' ? at + late : null
  endUnmatched(row, { at, until }, w.guards)
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
  const backoff = w.random.int(scene.backoff + 1)
  const thrownAway = kind === 'settle' && !guards.settleByTokenOnly && row.changeVersion !== version
  const used = thrownAway ? 'release' : kind
  const ended = {
    kind: used,
    claim: claimed,
    version,
    at,
    gap: scene.gap,
    backoff,
    late: scene.timeout + scene.grace,
    replanAt: seen.replanAt,
    verifyDelay: scene.verifies && guards.verifyAfterUnknown ? scene.verifyDelay : null,
    tooEarly: progress.tooEarly,
    unclear: progress.unclear ? { lag: scene.lag + 1 } : null,
    changed:
      guards.verifyChanged && (ledger.state === 'failing' || ledger.desired !== JSON.stringify(seen.desired)),
    sure: progress.sure,
  }
  const matched = end(row, ended, guards)
  w.history?.say(
    key,
    `${self.name} ends with ${used} for version ${version}` +
      `${matched ? `, due ${row.dueAt}${row.unknown ? ', unknown' : ''}` : ': no such claim'}`,
  )
  if (!matched || thrownAway) return matched
  if (guards.settleRecordsAck || kind !== 'settle') {
    ledger.known =
      guards.hiddenUnknownForgets || !claimed.hiddenUnknown
        ? progress.known
        : rehide(progress.known, seen.known)
  }
  ledger.storedAt = w.now
  ledger.desired = JSON.stringify(seen.desired)
  ledger.state =
    kind === 'settle' ? 'idle' : kind === 'reject' ? 'rejected' : kind === 'hold' ? 'held' : 'failing'
  ledger.invalid = kind === 'reject' && seen.desired.kind === 'invalid'
  if (progress.acknowledged) ledger.acknowledgedAt = w.now
  if (ledger.known.remote === 'present') w.acknowledged[key] = ledger.known.value
  const right = progress.carried.includes('all') || (kind === 'settle' && progress.lookedUp)
  if (guards.writeEndsFinding && ledger.finding !== null)
    if (
      right ||
      ledger.finding.fields.every((field) => progress.carried.includes(field) || isNotAsked(seen, field))
    )
      ledger.finding = null
  return matched
}

/** For a customer without access only the status counts. */
function isNotAsked({ desired }: Snapshot, field: Field): boolean {
  return desired.kind === 'removed' && field !== 'status'
}

/** A fault of the model: the record still claims the hidden part, although its value is unknown. */
function rehide(known: Known, before: Known): Known {
  if (known.remote !== 'present' || before.remote !== 'present' || known.hidden !== null) return known
  return { ...known, hidden: before.hidden }
}
