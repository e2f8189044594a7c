import type { CallLog } from '../ledger/call-log.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Called } from '../sync/call.ts'
import type { SyncStep } from '../sync/context.ts'
import type { Plan } from '../sync/plan.ts'

type EntryOptions = {
  readonly key: CustomerKey
  readonly plan: Plan | 'probe'
  readonly called: Called
  readonly meaning: string
  readonly atMs: number
}

/** What the log of calls keeps of a call. Plan and answer hold field values; only names, codes and types are taken. */
export function callEntry({ key, plan, called, meaning, atMs }: EntryOptions): CallEntry {
  const { method, outcome, shape, durationMs } = called
  const answer =
    outcome.kind === 'reply'
      ? { status: outcome.status, error: null, body: outcome.body }
      : { status: null, error: outcome.error, body: null }
  const kind = plan === 'probe' ? plan : plan.kind
  const fields = plan === 'probe' ? [] : fieldsIn(plan)
  return { key, atMs, plan: kind, method, ...answer, meaning, ms: durationMs, fields, shape }
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
    if (step.step === 'answered') log.add(callEntry({ key, ...step, atMs: now() }))
  }
}
