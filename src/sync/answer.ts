import type { Reason, ReasonCode } from '../ledger/record.ts'
import type { DesiredUser, OptionalField } from '../model/user.ts'
import type { CustomerDigests } from './digest.ts'
import type { Plan } from './plan.ts'
import type { Turn, TurnEnd } from './turn.ts'

/** What is known of the answer besides its meaning; `status` is null when there was none. */
export type Facts = {
  readonly plan: Plan
  readonly status: number | null
  readonly error?: string
  readonly waitMs?: number
  /** Fields that the answer names. */
  readonly named: readonly OptionalField[]
  /** The answer says that another user has what was sent. */
  readonly conflict: boolean
  readonly desired: DesiredUser | null
  readonly digests: CustomerDigests
  /** How long a "not there" cannot be believed yet; see turn.ts. */
  readonly lookAfterMs: number
  /** The call went without its fields, so that a refusal is no last word; see turn.ts. */
  readonly accessFirst?: boolean
}

/** What the claim knows after an answer; `end` when nothing more is to be tried in this claim. */
export type TurnStep = { readonly turn: Turn; readonly end?: TurnEnd }

/** The optional fields that a plan writes. */
export function fieldsOf(plan: Plan): readonly OptionalField[] {
  return 'fields' in plan ? plan.fields : []
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
