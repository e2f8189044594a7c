// The next calls for a customer, as a person reads them: what a sync would send, and what it waits for.
import type { Explanation } from '../explain/explain.ts'
import { historyOf } from '../explain/records.ts'
import type { RedactedPlan } from '../explain/redact.ts'
import { shellQuoted } from './render.ts'
import { renderPlan } from './render-step.ts'

export function renderNextCalls(plan: RedactedPlan, { erases }: Pick<Explanation, 'erases'>): string {
  return `${renderPlan(plan)}${erases && plan.kind === 'revoke' ? ', then erase the personal fields' : ''}`
}

const DISCARDED = 'the change is not sent, because a person has discarded it'

/** A release is for the change that was held. With a later change the brake is asked again. */
export function renderWaiting(one: Explanation, plan: RedactedPlan, calls: string): string {
  const { rollcall, planAfterLookup, result } = one
  const { state, released, owed, capturedMs } = historyOf(rollcall) ?? {}
  if (plan.kind === 'none') {
    // No GET has shown whether the difference is still there.
    const isLeft =
      one.discarded && state === 'discarded' && !owed && planAfterLookup === null && result !== 'left-alone'
    return isLeft ? DISCARDED : calls
  }
  const stopped = state === 'held' ? state : one.discarded && state !== 'rejected' ? 'discarded' : null
  const discarded = `at most: ${calls}. The discarded change is not sent`
  const held = `${calls}, unless the brake holds the change again`
  const unless = stopped === null ? calls : { held, discarded }[stopped]
  if (rollcall.kind === 'known' && !rollcall.applied)
    return `nothing, because this mapping is not active. When \`rollcall backfill --mapping\` has activated it, the next step is: ${unless}`
  // The captured change is another one than the released one.
  if (released) return typeof capturedMs === 'number' ? unless : calls
  if (stopped === null) {
    const emptied =
      rollcall.kind === 'known' && rollcall.truncated && (plan.kind === 'revoke' || plan.kind === 'erase')
    return emptied ? `nothing until \`rollcall capture resync\`; then: ${calls}` : calls
  }
  return owed || stopped === 'discarded'
    ? unless
    : `nothing, until a person releases the change; then: ${calls}`
}

export function renderNext(one: Explanation): string {
  const { desired, plan, planAfterLookup, rollcall, result } = one
  if (result === 'blocked') return 'nothing, because the customer cannot be sent'
  if (desired.kind === 'unreadable')
    return `nothing is sent until ${desired.reason.code === 'unwatched' ? 'the table has active triggers' : 'the row can be read'}`
  if (plan === null)
    return rollcall.kind === 'known'
      ? 'not known: ROLLCALL_DIGEST_KEY is not set, or is not the key with which this record was written'
      : 'not known: rollcall cannot use its records of what was sent'
  const now = renderNextCalls(plan, one)
  const then = planAfterLookup === null ? now : renderNextCalls(planAfterLookup, one)
  const { state = null, owed = null } = historyOf(rollcall) ?? {}
  const waiting = renderWaiting(one, planAfterLookup ?? plan, then)
  if (waiting !== then) return waiting
  if (!owed && state === 'rejected' && plan.kind !== 'none')
    return `nothing. If the row or the mapping changes: ${planAfterLookup?.kind === 'none' ? now : then}`
  if (then === now) return now
  if (plan.kind === 'lookup' && planAfterLookup?.kind === 'none' && !owed) return then
  if (plan.kind === 'lookup') return `lookup (GET) first, then: ${then}`
  const byLedger = renderWaiting(one, plan, now)
  if (byLedger !== now) return byLedger
  return `${plan.kind === 'none' ? "nothing, because rollcall's ledger does not show this difference" : now}. \`rollcall sync ${shellQuoted(one.key)} --lookup${desired.kind === 'removed' ? ' --removed' : ''}\` would send: ${then}`
}
