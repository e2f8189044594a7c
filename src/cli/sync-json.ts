import type { SyncStep } from '../sync/run.ts'

/** Bodies hold field values: their names are shown. */
export function redacted(plan: object): object {
  const { body, ...rest } = plan as { body?: object }
  return body ? { ...rest, sends: Object.keys(body) } : rest
}

export function redactedStep(step: SyncStep): object {
  switch (step.step) {
    case 'mapped': {
      const { mapped } = step
      return { step: 'mapped', kind: mapped.kind, issues: 'issues' in mapped ? mapped.issues : [] }
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
