// The parts of plans and steps that a person or a program is shown: names of fields and codes, never a field's value.
import { OPTIONAL_FIELDS } from '../model/user.ts'
import type { SyncStep } from '../sync/context.ts'
import { type Mapped, userIdOf, validUntilOf } from '../sync/map.ts'
import type { Plan } from '../sync/plan.ts'

export type RedactedPlan = ReturnType<typeof redactedPlan>

/**
 * Bodies hold field values: `sends` has their names. A status is no secret. `first`: the plan that a claim carries out before
 * this one, if there is one.
 */
export function redactedPlan(plan: Plan, first = plan) {
  if (!('body' in plan)) return plan
  const { body, ...rest } = plan
  const sends = Object.keys(body)
  const isSplit = 'body' in first && Object.keys(first.body).length < sends.length
  return { ...rest, sends, status: body.status, ...(isSplit ? { statusFirst: true } : {}) }
}

export type RedactedMapped = ReturnType<typeof redactedMapped>

export function redactedMapped(mapped: Mapped) {
  const user = mapped.kind === 'user' ? mapped.user : null
  const until = validUntilOf(mapped)
  return {
    kind: mapped.kind,
    userId: userIdOf(mapped),
    status: user?.status ?? null,
    set: OPTIONAL_FIELDS.filter((field) => (user?.fields[field] ?? null) !== null),
    empty: OPTIONAL_FIELDS.filter((field) => user?.fields[field] === null),
    issues: 'issues' in mapped ? mapped.issues : [],
    /** Until when the mapping's answer holds; nothing where only a change can make another of it. */
    ...(until === null ? {} : { validUntil: new Date(until).toISOString() }),
  }
}

export type RedactedStep = ReturnType<typeof redactedStep>

export function redactedStep(step: SyncStep) {
  switch (step.step) {
    case 'mapped':
      return { step: step.step, ...redactedMapped(step.mapped) }
    case 'planned':
      return { step: step.step, plan: redactedPlan(step.plan) }
    case 'answered': {
      const { method, outcome, durationMs } = step.called
      return { step: step.step, method, outcome, meaning: step.called.meaning, ms: Math.round(durationMs) }
    }
    case 'ended':
      return step
    default:
      return step satisfies never
  }
}
