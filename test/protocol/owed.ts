// The statements of docs/protocol.md before a call, as functions on one row of `owed`. Each call of a function
// is one statement that commits; `at` is its now(), which may lie a little before the moment of its effect.
import type { Guards } from './guards.ts'

export type Owed = {
  changeVersion: number
  syncedVersion: number
  suspectVersion: number
  unknown: boolean
  hiddenUnknown: boolean
  lane: number
  dueAt: number | null
  notBefore: number | null
  /** The first change that no claim has settled; null: a lookup is owed. */
  changedAt: number | null
  replanAt: number | null
  /** Lookups still to come after an unknown outcome. */
  verifyLeft: number
  /** When the next of them is owed. */
  verifyAt: number | null
  /** The end of the check that has claimed the row last. */
  checkUntil: number | null
  token: number | null
  callToken: number | null
}

export type Claim = {
  readonly key: number
  readonly token: number
  readonly version: number
  readonly unknown: boolean
  readonly hiddenUnknown: boolean
}

/** LEAST and GREATEST of SQL, which pass over nulls. */
export const least = (a: number | null, b: number): number => (a === null ? b : Math.min(a, b))
export const greatest = (a: number | null, b: number): number => (a === null ? b : Math.max(a, b))

function fresh(lane: number, at: number | null): Owed {
  return {
    changeVersion: at === null ? 0 : 1,
    syncedVersion: 0,
    suspectVersion: 0,
    unknown: false,
    hiddenUnknown: false,
    lane,
    dueAt: at,
    notBefore: null,
    changedAt: at,
    replanAt: null,
    verifyLeft: 0,
    verifyAt: null,
    checkUntil: null,
    token: null,
    callToken: null,
  }
}

export type NoteParams = { readonly lane: number; readonly at: number }

/** Whatever raises a version takes the row from a check: a token that is out while nothing is due belongs to one. */
function takeFromCheck(row: Owed, taken: boolean): void {
  if (row.dueAt !== null || !taken) return
  row.token = null
  row.callToken = null
}

/** A change: due at once, unless a token is out or `not_before` says otherwise. */
export function note(row: Owed | null, { lane, at }: NoteParams, guards: Guards): Owed {
  if (row === null) return fresh(lane, at)
  takeFromCheck(row, guards.noteTakesCheck)
  row.changeVersion += 1
  row.changedAt = least(row.changedAt, at)
  row.lane = row.dueAt === null ? lane : Math.min(row.lane, lane)
  if (row.token === null || !guards.noteWhileTokenOutKeepsDue) {
    row.dueAt = least(row.dueAt, guards.notBeforeRespected ? greatest(row.notBefore, at) : at)
  }
  return row
}

/** A sweep or a repair: owed, but no sooner than it was. */
export function noteSwept(row: Owed | null, { lane, at }: NoteParams, guards: Guards): Owed {
  if (row === null) return fresh(lane, at)
  takeFromCheck(row, guards.noteTakesCheck)
  row.changeVersion += 1
  row.changedAt = least(row.changedAt, at)
  row.lane = row.dueAt === null ? lane : Math.min(row.lane, lane)
  const due = greatest(row.notBefore, at)
  row.dueAt = guards.sweepKeepsDue ? (row.dueAt ?? due) : due
  return row
}

/** Two checks follow every outcome that was unknown. */
export function restartVerification(row: Owed): void {
  row.verifyLeft = 2
  row.verifyAt = null
}

/** The next look after an unknown outcome has come. */
export function noteVerification(row: Owed, at: number): void {
  row.verifyLeft -= 1
  row.verifyAt = null
  noteLookup(row, at)
}

/** A claim like any other, that checks first: a verification, or the repair of what checks have found. */
export function noteLookup(row: Owed, at: number): void {
  takeFromCheck(row, true)
  row.changeVersion += 1
  row.suspectVersion = row.changeVersion
  row.unknown = true
  row.lane = row.dueAt === null ? 2 : Math.min(row.lane, 2)
  row.dueAt ??= greatest(row.notBefore, at)
}

/** Whether a check may look the customer up: no sync is owed, unknown or about to be, and no other check has the row. */
export function isQuiet(row: Owed | null, at: number): boolean {
  if (row === null) return true
  if (row.dueAt !== null || row.unknown || (row.replanAt !== null && row.replanAt <= at)) return false
  return row.token === null || (row.checkUntil !== null && row.checkUntil <= at)
}

/**
 * A check claims at once, without a lease. A customer that was never noted gets a row for it. The mark of a check
 * that died leaves nothing unknown: nothing was written. Null: no check may claim this customer.
 */
export function claimCheck(row: Owed | null, { token, at, until }: CheckClaim, guards: Guards): Owed | null {
  if (!isQuiet(row, at)) return null
  const claimed = row ?? fresh(3, null)
  if (claimed.callToken !== null && !guards.deadCheckLeavesNothingUnknown) claimed.unknown = true
  claimed.token = token
  claimed.callToken = token
  claimed.checkUntil = until
  return claimed
}

/** A sync is; a check is taken away by whatever raises the version. */
export function isUnderWay({ token, dueAt }: Owed): boolean {
  return token !== null && dueAt !== null
}

export function leasable(row: Owed | null, lane: number, at: number): row is Owed {
  return row !== null && row.lane === lane && row.dueAt !== null && row.dueAt <= at
}

/** The row is leasable. An open call mark is the trace of a crash: the outcome of the call is unknown. */
export function lease(row: Owed, params: { token: number; at: number; until: number }, guards: Guards): void {
  row.token = guards.leaseFreshToken ? params.token : 1
  row.dueAt = params.until
  if (row.callToken !== null) {
    if (guards.leaseMarksUnknown) row.unknown = true
    if (guards.leaseMarksHidden) row.hiddenUnknown = true
    if (guards.leaseClearsCall) row.callToken = null
    restartVerification(row)
  }
}

/** The queue took no jobs, or did not say so: the leases are taken back, unless a job came through after all. */
export function unlease(row: Owed, { token, at }: { token: number; at: number }, guards: Guards): void {
  if (row.token !== token || (row.callToken !== null && guards.unleaseSparesClaims)) return
  row.token = null
  row.callToken = null
  row.dueAt = greatest(row.notBefore, least(row.changedAt, at))
}

type CheckClaim = { readonly token: number; readonly at: number; readonly until: number }
type ClaimParams = CheckClaim & { readonly key: number }

export function claim(row: Owed, { key, token, at, until }: ClaimParams, guards: Guards): Claim | null {
  if (guards.claimTokenGuard && row.token !== token) return null
  if (guards.claimSingleUse && row.callToken !== null) return null
  if (row.dueAt === null || row.dueAt <= at) return null
  if (guards.claimWaitsNotBefore && row.notBefore !== null && row.notBefore > at) return null
  row.token = token
  if (guards.claimMark) row.callToken = token
  row.dueAt = until
  return { key, token, version: row.changeVersion, unknown: row.unknown, hiddenUnknown: row.hiddenUnknown }
}

/**
 * A person lets a held or rejected customer go on, exactly in the version that was shown. Returns the version
 * that is approved, null when the customer has moved on. It is a new version: whatever makes an idle customer
 * due again must raise it, or a verification whose GET spans all of that takes the customer for unmoved.
 */
export function release(
  row: Owed,
  { version, at }: { version: number; at: number },
  guards: Guards,
): number | null {
  if (row.changeVersion !== version || isUnderWay(row)) return null
  takeFromCheck(row, guards.noteTakesCheck)
  row.changeVersion += 1
  row.dueAt = greatest(row.notBefore, at)
  return row.changeVersion
}
