// A check: a claim that makes one GET, plans with the same plan, and cannot write.
import { claimCheck, noteLookup } from './owed.ts'
import { type Desired, type Field, type Known, planFor } from './plan.ts'
import { newRequest } from './service.ts'
import { snapshot } from './snapshot.ts'
import { type Actor, pause, type Steps, statementTime, type World } from './world.ts'

type Check = { readonly key: number; readonly token: number }
type Seen = { readonly known: Known; readonly differs: readonly Field[] | null }

/** Whether a check may look up this customer; a state that may still lag would count as a difference. */
export function mayCheck(w: World, key: number): boolean {
  const ledger = w.ledger[key]
  if (ledger === undefined || ledger.state !== 'idle') return false
  return earliest(w, key) <= w.now
}

/** When the next look up this customer may be. */
export function earliest(w: World, key: number): number {
  const ledger = w.ledger[key]
  const written = w.guards.checkWaitsForLag ? (ledger?.acknowledgedAt ?? 0) : 0
  const suspected = ledger?.finding?.checks === 1 ? ledger.finding.at : 0
  return Math.max(written, suspected) + w.scene.lag + 1
}

/** The reconciler, or a run over all customers, checks one customer, at any time. */
export function* check(w: World, self: Actor, key: number): Steps {
  const sentAt = w.now
  yield* pause(w, self, 'taken')
  if (!mayCheck(w, key)) return
  const claimed = tryClaim(w, self, key, sentAt)
  if (claimed === null) return
  yield* pause(w, self, 'claimed')
  const { desired, known, acknowledgedAt } = snapshot(w, key)
  yield* pause(w, self, 'read')
  const unasked = desired.kind === 'removed' && known.remote === 'unasked'
  const ours = desired.kind !== 'invalid' && !unasked && w.ledger[key]?.state === 'idle'
  if (!ours) return end(w, self, claimed, null)
  const early = w.guards.checkWaitsForLag && acknowledgedAt + w.scene.lag >= w.now
  const late =
    w.guards.clockCheckBeforeCall && w.now + w.scene.timeout + w.scene.grace > sentAt + w.scene.lifetime
  if (early || late) return drop(w, self, claimed)
  const request = newRequest(key, { verb: 'get' }, w.scene.timeout + w.scene.grace, w)
  w.service.requests.push(request)
  yield request
  const answer = request.delivered ? request.answer : null
  if (answer === null || (answer.kind !== 'found' && answer.kind !== 'missing')) return drop(w, self, claimed)
  yield* pause(w, self, 'answered')
  const hidden = known.remote === 'present' ? known.hidden : null
  const seen: Known =
    answer.kind === 'found'
      ? { remote: 'present', status: answer.status, value: answer.value, hidden }
      : { remote: 'absent' }
  const differs = differing(desired, seen)
  const captured = w.outbox.some((change) => change.key === key && change.visible)
  if (differs !== null && w.guards.differenceWaitsForNotes && captured) return drop(w, self, claimed)
  yield* pause(w, self, 'answered')
  end(w, self, claimed, { known: seen, differs })
}

/** Leaves out the part that no GET shows. Without a field it is the user as a whole. */
function differing(desired: Desired, seen: Known): readonly Field[] | null {
  const { kind } = planFor(desired, seen, false)
  if (kind === 'none' || kind === 'reject') return null
  if (seen.remote !== 'present') return []
  if (desired.kind !== 'user') return ['status']
  const status: readonly Field[] = seen.status === desired.status ? [] : ['status']
  const fields = seen.value === desired.value ? status : ([...status, 'value'] as const)
  return fields.length > 0 ? fields : null
}

function tryClaim(w: World, self: Actor, key: number, since: number): Check | null {
  const at = statementTime(w, since)
  const token = w.nextToken++
  const row = claimCheck(w.owed[key] ?? null, { token, at, until: at + w.scene.lifetime }, w.guards)
  if (row === null) return null
  w.owed[key] = row
  w.history?.say(key, `${self.name} claims a check with token ${token} until t=${row.checkUntil}`)
  return { key, token }
}

/** Nothing was learnt: another time. */
function drop(w: World, self: Actor, claimed: Check): void {
  const fits = fitting(w, claimed) !== null
  w.history?.say(claimed.key, `${self.name} has learnt nothing${fits ? '' : ', and is too late'}`)
}

/** The row that is still this check's, taken from it; null: another process has it, and the check says nothing. */
function fitting(w: World, { key, token }: Check) {
  const row = w.owed[key]
  if (row === null || row === undefined) return null
  if (w.guards.checkEndsByToken && !(row.token === token && row.callToken === token && row.dueAt === null))
    return null
  row.token = null
  row.callToken = null
  return row
}

/** `seen` null: no GET was made. */
function end(w: World, self: Actor, claimed: Check, seen: Seen | null): void {
  const { key } = claimed
  const row = fitting(w, claimed)
  const ledger = w.ledger[key]
  if (row === null || ledger === undefined) {
    w.history?.say(key, `${self.name} is too late with its check`)
    return
  }
  const before = ledger.finding
  const differs = seen?.differs ?? null
  if (seen !== null && (differs === null || !w.guards.checkKeepsMemory)) ledger.known = seen.known
  ledger.finding = null
  if (differs === null && seen?.known.remote === 'present') w.acknowledged[key] = seen.known.value
  w.history?.say(
    key,
    `${self.name} ends its check: ${differs === null ? 'agrees' : `differs in [${differs}]`}`,
  )
  if (differs === null) return
  const same = before !== null && (before.fields.length === 0) === (differs.length === 0)
  const twice = differs.filter((field) => before?.fields.includes(field))
  if (!same || (differs.length > 0 && twice.length === 0)) {
    ledger.finding = { fields: differs, checks: 1, at: w.now }
    return
  }
  ledger.finding = { fields: twice, checks: 2, at: w.now }
  w.confirmed[key] = true
  if (w.scene.repairs) noteLookup(row, w.now)
}
