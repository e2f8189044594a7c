// Written down before a call: after a crash the record is what is known.
import type { Claim } from '../ledger/claim.ts'
import type { SyncContext } from './context.ts'
import { leavesTrial, type Plan } from './plan.ts'
import type { Subject } from './subject.ts'

type Calling = Pick<Subject, 'record' | 'basis'> & { readonly claim: Claim; readonly plan: Plan }

export async function leaveTrace(context: SyncContext, { claim, plan, record, basis }: Calling) {
  const { config, markStatusUnknown, markAsked } = context
  // The trial that it tells of must not seem to have ended by itself.
  if (basis.sentStatus === 4 && leavesTrial(plan)) await markStatusUnknown(claim)
  // And that a call was made at all: no later claim would look for the user of a customer who has left the scope.
  const first = record.remote === 'unasked' && plan.kind !== 'lookup'
  if (first && config.scope) await markAsked(claim.key)
}
