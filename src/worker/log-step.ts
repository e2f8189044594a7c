import type { Claim } from '../ledger/claim.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Log } from '../ops/log.ts'
import type { SyncStep } from '../sync/context.ts'
import type { TurnEnd } from '../sync/turn.ts'

/**
 * One line for each call and one for each ending that is no success. Keys stand under the names that the log can hide
 * (`customer`, and `keys` of a reason); field values never.
 */
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
        if (end.kind === 'settle') logSettled(log, about, end)
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

type Settled = Extract<TurnEnd, { readonly kind: 'settle' }>

function logSettled(log: Log, customer: object, { state, reason }: Settled): void {
  const about = { ...customer, ...reason }
  switch (state) {
    case 'idle':
      log.debug(about, 'settled')
      return
    case 'rejected':
      log.warn(about, 'rejected: it waits for a change of row or mapping')
      return
    case 'held':
      log.debug(about, 'held: it waits for a person (rollcall held)')
      return
    case 'discarded':
      log.debug(about, 'left as it is: a person has discarded the difference')
      return
    default:
      state satisfies never
  }
}
