import type { CallLog } from '../ledger/call-log.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { SyncStep } from '../sync/context.ts'
import type { Plan } from '../sync/plan.ts'

type Answered = Extract<SyncStep, { readonly step: 'answered' }>

/** What the log of calls keeps of a call. Plan and answer hold field values; only names, codes and types are taken. */
export function callEntry(key: CustomerKey, { plan, called, meaning }: Answered, atMs: number): CallEntry {
  const { method, outcome, shape, durationMs } = called
  const replied = outcome.kind === 'reply'
  return {
    key,
    atMs,
    plan: plan.kind,
    method,
    status: replied ? outcome.status : null,
    error: replied ? null : outcome.error,
    meaning,
    ms: durationMs,
    fields: fieldsIn(plan),
    body: replied ? outcome.body : null,
    shape,
  }
}

/** In the order of the body. */
function fieldsIn(plan: Plan): string[] {
  if (!('body' in plan)) return []
  const sent = Object.entries(plan.body).filter(([name, value]) => name !== 'user_id' && value !== undefined)
  return sent.map(([name]) => name)
}

/** Takes down every call of a claim; `now` in milliseconds since 1970. */
export function logCalls(log: Pick<CallLog, 'add'>, now: () => number) {
  return (key: CustomerKey, step: SyncStep): void => {
    if (step.step === 'answered') log.add(callEntry(key, step, now()))
  }
}
