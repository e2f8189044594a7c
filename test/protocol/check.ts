import { type Desired, desire } from './plan.ts'
import { show } from './service.ts'
import { NAMES, type World } from './world.ts'

/** At every step: the states of the table and one live claim for each customer; the text names what is broken. */
export function brokenNow(w: World): string | null {
  return firstOf(w, (key) => brokenRow(w, key) ?? brokenClaims(w, key) ?? brokenFinding(w, key))
}

/** Another system has changed the user, and rollcall has not repaired it yet. */
export function isUndone(w: World, key: number): boolean {
  const row = w.rows[key]
  if (row === undefined || w.editedAt[key] === null || w.ledger[key]?.known.remote === 'unasked') return false
  const desired = desire(row, w.now)
  return desired.kind !== 'invalid' && !accepted(desired, w.service.users[key] ?? null)
}

/** Found to differ, though only rollcall has ever written, and no request came later than it may. */
function brokenFinding(w: World, key: number): string | null {
  if (w.overstepped[key]) return 'repaired what was only to be reported'
  if (!w.confirmed[key] || w.editedAt[key] !== null) return null
  const { forgets, adopts, lateSends } = w.scene
  return forgets || adopts || lateSends > 0 ? null : 'found to differ, and never did'
}

/** At every step: nothing is owed for a customer, and yet the service is not as it should be. */
export function wrongNow(w: World): string | null {
  return firstOf(w, (key) => (atRest(w, key) ? wrongAtRest(w, key) : null))
}

/** When nothing is left to do. */
export function wrongAtEnd(w: World): string | null {
  return firstOf(w, (key) => {
    const ledger = w.ledger[key]
    const waits = ledger !== undefined && ledger.state !== 'idle' && !ledger.invalid
    if (!w.scene.repairs && isUndone(w, key)) return null
    return waits ? `still ${ledger.state}` : wrongAtRest(w, key)
  })
}

function firstOf(w: World, find: (key: number) => string | null): string | null {
  for (let key = 0; key < w.scene.customers; key++) {
    const found = find(key)
    if (found !== null) return `${NAMES[key]}: ${found}`
  }
  return null
}

/** The table of states, row by row. */
function brokenRow(w: World, key: number): string | null {
  const row = w.owed[key]
  if (row === null || row === undefined) return null
  const { token, callToken, dueAt } = row
  if (callToken !== null && callToken !== token) return `call_token ${callToken} beside token ${token}`
  if (token !== null && dueAt === null && row.checkUntil === null) return 'a token is out for nothing'
  if (dueAt === null && row.changeVersion !== row.syncedVersion)
    return 'a version is not synced and nothing is owed'
  if (dueAt === null && row.unknown && w.ledger[key]?.state === 'idle') return 'idle and unknown'
  if (token === null && dueAt !== null && row.notBefore !== null && dueAt < row.notBefore) {
    return `due ${dueAt}, not before ${row.notBefore}`
  }
  return null
}

function brokenClaims(w: World, key: number): string | null {
  let live = 0
  for (const { claim } of w.actors) if (claim !== null && claim.key === key && w.now < claim.until) live++
  return live > 1 ? `${live} live claims` : null
}

/**
 * Nothing is owed for this customer at this moment, and nothing is under way that only the later checks of the
 * protocol can put right: a process that sent too late, or a lookup that a lagging read may have misled.
 */
function atRest(w: World, key: number): boolean {
  const row = w.owed[key]
  if (row === null || row === undefined || row.dueAt !== null) return false
  if (row.replanAt !== null && row.replanAt <= w.now) return false
  if (row.verifyLeft > 0 && row.verifyAt !== null) return false
  if (isUndone(w, key) || w.actors.some((actor) => actor.survives && actor.key === key)) return false
  return !w.outbox.some((change) => change.key === key && change.visible)
}

/** Does the service hold what the last commit asks for, and do we remember it so? */
function wrongAtRest(w: World, key: number): string | null {
  const row = w.rows[key]
  const ledger = w.ledger[key]
  const owed = w.owed[key]
  if (row === undefined || ledger === undefined || owed === null || owed === undefined) return null
  const desired = desire(row, w.now)
  if (desired.kind === 'invalid') return null
  if (ledger.state !== 'idle') return null
  // Only a check was ever requested for it, and it is no customer of ours.
  if (ledger.known.remote === 'unasked' && ledger.storedAt === 0) return null
  const user = w.service.users[key] ?? null
  if (!accepted(desired, user)) return `wanted ${JSON.stringify(desired)}, ${show(user)}`
  if (owed.unknown) return 'right, but the remote side counts as unknown'
  const { known, finding } = ledger
  const editedAt = w.editedAt[key] ?? Number.NEGATIVE_INFINITY
  if (
    finding?.checks === 2 &&
    ledger.acknowledgedAt > finding.at &&
    finding.at > editedAt &&
    finding.fields.length < 2
  )
    return `still found to differ in [${finding.fields}]`
  if (w.editedAt[key] !== null) return null
  // A user that the service lost, and that no customer has needed since.
  if (w.lost[key] && user === null && desired.kind === 'removed') return null
  const same =
    known.remote !== 'present'
      ? user === null
      : user !== null &&
        user.status === known.status &&
        user.value === known.value &&
        (known.hidden === null || user.hidden === known.hidden)
  return same ? null : `remembered ${JSON.stringify(known)}, ${show(user)}`
}

function accepted(desired: Desired, user: World['service']['users'][number]): boolean {
  if (desired.kind !== 'user') return user === null || user === undefined || user.status === 0
  return (
    user !== null &&
    user !== undefined &&
    user.status === desired.status &&
    user.value === desired.value &&
    user.hidden === desired.hidden
  )
}
