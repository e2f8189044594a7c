import { type Mapped, validUntilOf } from '../model/mapped.ts'
import type { SyncStep } from '../sync/context.ts'

/** Bodies hold field values: their names are shown. */
export function redacted(plan: object): object {
  const { body, ...rest } = plan as { body?: object }
  return body ? { ...rest, sends: Object.keys(body) } : rest
}

/** Until when the mapping's answer holds; nothing where only a change can make another of it. */
export function untilOf(mapped: Mapped): { readonly validUntil?: string } {
  const until = validUntilOf(mapped)
  return until === null ? {} : { validUntil: new Date(until).toISOString() }
}

export function redactedStep(step: SyncStep): object {
  switch (step.step) {
    case 'mapped': {
      const { mapped } = step
      return {
        step: 'mapped',
        kind: mapped.kind,
        issues: 'issues' in mapped ? mapped.issues : [],
        ...untilOf(mapped),
      }
    }
    case 'planned':
      return { step: 'planned', plan: redacted(step.plan) }
    case 'answered':
      return {
        step: 'answered',
        method: step.called.method,
        outcome: step.called.outcome,
        meaning: step.meaning,
        ms: Math.round(step.called.durationMs),
      }
    case 'ended':
      return step
    default:
      return step satisfies never
  }
}
