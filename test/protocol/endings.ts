// The statements of docs/protocol.md after a call: every way in which a claim ends.
import type { Guards } from './guards.ts'
import { type Claim, greatest, least, type Owed, restartVerification } from './owed.ts'

export type EndingKind = 'settle' | 'reject' | 'hold' | 'retry' | 'release' | 'unknown'

export type EndingParams = {
  readonly kind: EndingKind
  readonly claim: Claim
  readonly version: number
  readonly at: number
  readonly gap: number
  readonly backoff: number
  /** How long after this moment a request of the claim may still arrive: timeout and grace. */
  readonly late: number
  readonly replanAt: number | null
  /** How long after this lookup the next one is due; null in runs that do without. */
  readonly verifyDelay: number | null
  /** The lookup came too soon after a write: for how long yet. */
  readonly tooEarly: number
  /** The last write was answered with neither yes nor no, so its request is over; how long it may not be shown yet. */
  readonly unclear: { readonly lag: number } | null
  /** The customer maps to another user than at the ending before. */
  readonly changed: boolean
  /** A lookup or a write of this claim got a trusted answer. */
  readonly sure: boolean
}

/** False when no row fits: the claim was taken away meanwhile, or this ending had come through already. */
export function end(row: Owed, params: EndingParams, guards: Guards): boolean {
  const { token } = params.claim
  const fits = row.token === token && (row.callToken === token || !guards.claimMark)
  if (guards.settleTokenGuard && !fits) return false
  const risen = row.changeVersion > params.version
  row.token = null
  row.callToken = null
  switch (params.kind) {
    case 'settle':
    case 'reject':
    case 'hold':
      settle(row, params, guards)
      return true
    case 'retry':
      row.dueAt = greatest(row.notBefore, params.at + (risen ? params.gap : params.backoff))
      if (!guards.retryKeepsUnknown) row.unknown = false
      return true
    case 'release':
      row.dueAt = greatest(row.notBefore, params.at + params.tooEarly)
      return true
    case 'unknown':
      endUnknown(row, params, guards)
      return true
    default:
      return params.kind satisfies never
  }
}

function settle(row: Owed, params: EndingParams, guards: Guards): void {
  const { version, at, gap, sure } = params
  const suspected = row.suspectVersion > version
  const risen = row.changeVersion > version && guards.dueAgainWhenVersionRose
  const cleared = sure && row.unknown && !suspected && row.verifyAt === null && row.verifyLeft > 0
  const { verifyDelay } = params
  if (verifyDelay !== null && cleared) row.verifyAt = at + verifyDelay
  else if (
    verifyDelay !== null &&
    params.unclear &&
    guards.verifyAfterUnclear &&
    (row.suspectVersion < version || row.syncedVersion < version - 1 || params.changed)
  ) {
    row.verifyLeft = Math.max(row.verifyLeft, 1)
    row.verifyAt ??= at + verifyDelay
  }
  row.syncedVersion = version
  row.unknown =
    (guards.suspectSurvivesSettle && suspected) || (row.unknown && !sure && guards.settleNeedsSureness)
  row.hiddenUnknown &&= (guards.hiddenUnknownSurvives && suspected) || !sure
  row.replanAt = params.replanAt
  row.notBefore = suspected && guards.suspectKeepsWait ? greatest(row.notBefore, at + gap) : at + gap
  row.dueAt = risen ? row.notBefore : null
  row.changedAt = risen ? at : null
}

/**
 * `due_at` is still the end of the claim's lifetime: until then the request may yet arrive, and later still when
 * the worker was suspended between its last reading of the clock and the sending.
 */
function endUnknown(row: Owed, params: EndingParams, guards: Guards): void {
  const { version, at, backoff, late, unclear } = params
  row.unknown = true
  if (!unclear) restartVerification(row)
  if (!guards.unknownWaitsLifetime) {
    row.dueAt = at
    return
  }
  if (unclear) row.notBefore = at + unclear.lag
  else row.notBefore = guards.unknownWaitsRequest ? greatest(row.dueAt, at + late) : row.dueAt
  row.dueAt = row.changeVersion > version ? row.notBefore : greatest(row.notBefore, at + backoff)
}

/** An ending that matched no row, when a write may have been sent; until `until` it may still arrive. */
export function endUnmatched(
  row: Owed,
  { at, until }: { readonly at: number; readonly until: number | null },
  guards: Guards,
): void {
  if (row.dueAt === null && guards.suspectTakesCheck) {
    row.token = null
    row.callToken = null
  }
  if (until !== null && guards.unmatchedWaitsRequest) row.notBefore = greatest(row.notBefore, until)
  if (guards.unmatchedMarksSuspect) {
    if (guards.unmatchedRaisesVersion) row.changeVersion += 1
    row.suspectVersion = row.changeVersion
    row.unknown = true
    restartVerification(row)
    if (row.token === null) row.dueAt = greatest(row.notBefore, least(row.dueAt, at))
  }
  if (guards.unmatchedMarksHidden) row.hiddenUnknown = true
}
