// The facts of an answer from which a claim goes on after it, or ends.
import type { Reason, ReasonCode } from '../ledger/reason.ts'
import type { DesiredUser, OptionalField } from '../model/user.ts'
import type { Called } from './call.ts'
import { fieldsOf, type Plan } from './plan.ts'
import type { TurnEnd, TurnSituation } from './turn.ts'

/** The facts of an answer besides its meaning; `status` is null when there was none. */
export type Facts = Pick<TurnSituation, 'digests' | 'lookupAfterMs' | 'accessFirst'> & {
  readonly plan: Plan
  readonly status: number | null
  readonly error?: string
  readonly waitMs?: number
  /** Fields that the answer names. */
  readonly named: readonly OptionalField[]
  /** The answer says that another user has what was sent. */
  readonly conflict: boolean
  readonly desired: DesiredUser | null
}

export function factsOf({ outcome, named, conflict }: Called) {
  if (outcome.kind === 'error') return { status: null, error: outcome.error, named, conflict }
  const wait = outcome.retryAfterMs === undefined ? {} : { waitMs: outcome.retryAfterMs }
  return { status: outcome.status, ...wait, named, conflict }
}

/** Codes, statuses and names only: a reason is stored, logged and shown. */
export function reasonOf(code: ReasonCode, { plan, status, error, named }: Facts): Reason {
  const fields = fieldsOf(plan)
  const known = named.filter((field) => fields.includes(field))
  return {
    code,
    ...(status === null ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(fields.length > 0 ? { fields } : {}),
    ...(known.length > 0 ? { named: known } : {}),
  }
}

export function retry(code: ReasonCode, facts: Facts): TurnEnd {
  const wait = facts.waitMs === undefined ? {} : { waitMs: facts.waitMs }
  return { kind: 'retry', reason: reasonOf(code, facts), failed: true, ...wait }
}
