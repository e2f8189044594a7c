// A check: a claim that makes one GET, plans with the same plan, and cannot write.
import { type Claim, noteToLook } from './owed.ts'
import { type Desired, type Field, type Known, planFor } from './plan.ts'
import { newRequest } from './service.ts'
import { snapshot } from './snapshot.ts'
import { type Actor, pause, type Steps, type World } from './world.ts'

type CheckParams = { readonly claimed: Claim; readonly sentAt: number }
type Seen = { readonly known: Known; readonly differs: readonly Field[] | null }

export function* check(w: World, self: Actor, { claimed, sentAt }: CheckParams): Steps {
  const { key } = claimed
  const { desired, known, acknowledgedAt } = snapshot(w, key)
  yield* pause(w, self, 'read')
  const unasked = desired.kind === 'removed' && known.remote === 'unasked'
  const ours = desired.kind !== 'invalid' && !unasked && w.ledger[key]?.state === 'idle'
  if (!ours) return end(w, self, claimed, null)
  const early = w.guards.checkWaitsForLag && acknowledgedAt + w.scene.lag >= w.now
  const late =
    w.guards.clockCheckBeforeCall && w.now + w.scene.timeout + w.scene.grace > sentAt + w.scene.lifetime
  if (early || late) return again(w, self, claimed, early ? acknowledgedAt + w.scene.lag + 1 : w.now)
  const request = newRequest(key, { verb: 'get' }, w.scene.timeout + w.scene.grace, w)
  w.service.requests.push(request)
  yield request
  const answer = request.delivered ? request.answer : null
  if (answer === null || (answer.kind !== 'found' && answer.kind !== 'missing'))
    return again(w, self, claimed, w.now + w.random.int(w.scene.backoff + 1))
  yield* pause(w, self, 'looked')
  const hidden = known.remote === 'present' ? known.hidden : null
  const seen: Known =
    answer.kind === 'found'
      ? { remote: 'present', status: answer.status, value: answer.value, hidden }
      : { remote: 'absent' }
  const differs = differing(desired, seen)
  const captured = w.outbox.some((change) => change.key === key && change.visible)
  if (differs !== null && w.guards.differenceWaitsForNotes && captured)
    return again(w, self, claimed, w.now + 1)
  yield* pause(w, self, 'looked')
  end(w, self, claimed, { known: seen, differs })
}

/** What a sync would write, but for what no GET shows; null: nothing. Without a field it is the user as a whole. */
function differing(desired: Desired, seen: Known): readonly Field[] | null {
  const { kind } = planFor(desired, seen, false)
  if (kind === 'none' || kind === 'reject') return null
  if (seen.remote !== 'present') return []
  if (desired.kind !== 'user') return ['status']
  const status: readonly Field[] = seen.status === desired.status ? [] : ['status']
  const fields = seen.value === desired.value ? status : ([...status, 'value'] as const)
  return fields.length > 0 ? fields : null
}

/** Nothing was learnt: another time. */
function again(w: World, self: Actor, claimed: Claim, at: number): void {
  const row = fitting(w, claimed)
  w.history?.say(
    claimed.key,
    `${self.name} has learnt nothing, ${row ? `checks again at ${at}` : 'and is too late'}`,
  )
  if (row) row.checkAt = at
}

/** The row that is still this check's, taken from it; null: somebody else has it, and nothing is said. */
function fitting(w: World, { key, token }: Claim) {
  const row = w.owed[key]
  if (row === null || row === undefined) return null
  if (w.guards.checkEndsByToken && !(row.token === token && row.callToken === token && row.dueAt === null))
    return null
  row.token = null
  row.callToken = null
  return row
}

/** `seen` null: nobody was asked. */
function end(w: World, self: Actor, claimed: Claim, seen: Seen | null): void {
  const { key } = claimed
  const row = fitting(w, claimed)
  const ledger = w.ledger[key]
  if (row === null || ledger === undefined) {
    w.history?.say(key, `${self.name} is too late with its check`)
    return
  }
  row.checkAt = null
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
    ledger.finding = { fields: differs, looks: 1, at: w.now }
    row.checkAt = w.now + w.scene.lag + 1
    return
  }
  ledger.finding = { fields: twice, looks: 2, at: w.now }
  w.confirmed[key] = true
  if (w.scene.repairs) noteToLook(row, w.now)
}
