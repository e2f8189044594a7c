import type { Claim } from '../ledger/claim.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Log } from '../ops/log.ts'
import type { SyncStep } from '../sync/run.ts'

/** One line for each call and one for each ending that is no success; keys yes, field values never. */
export function logStep(log: Log) {
  return (customer: CustomerKey, step: SyncStep, claim: Claim): void => {
    const about = { customer, attempt: claim.attempts + 1 }
    switch (step.step) {
      case 'mapped':
      case 'planned':
        return
      case 'answered': {
        const { method, outcome, durationMs } = step.called
        const answer = outcome.kind === 'reply' ? { status: outcome.status } : { error: outcome.error }
        log.info(
          {
            ...about,
            plan: step.plan.kind,
            method,
            ...answer,
            meaning: step.meaning,
            ms: Math.round(durationMs),
          },
          'call',
        )
        return
      }
      case 'ended': {
        const { end } = step
        if (end.kind === 'settle' && end.state === 'idle') log.debug(about, 'settled')
        else if (end.kind === 'settle')
          log.warn({ ...about, ...end.reason }, 'rejected: it waits for a change of row or mapping')
        else if (end.kind === 'unknown')
          log.warn({ ...about, ...end.reason }, 'the outcome is unknown: it is looked up later')
        else log.info({ ...about, ...end.reason }, 'not now: it is tried again')
        return
      }
      default:
        step satisfies never
    }
  }
}
