// Between the worker and the meter: turns the steps of a sync into what the demo shows.
import type { Claim } from '../ledger/claim.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Status } from '../model/user.ts'
import type { Sandbox } from '../sandbox/server.ts'
import type { Outcome } from '../sync/classify.ts'
import type { SyncStep } from '../sync/context.ts'
import type { Plan } from '../sync/plan.ts'
import type { Observers } from '../worker/worker.ts'
import { addCall, addCaptured, type CallKind, METERED_KINDS, type Meter } from './meter.ts'
import { countOf } from './view.ts'

type Options = {
  readonly sandbox: Pick<Sandbox, 'journal'>
  readonly now: () => number
  readonly meter: Meter
}

/** Calls of other customers that may have arrived between a call and its answer. */
const OTHER_CALLS = 200

export function observeWorker({ sandbox: { journal }, now, meter }: Options): Observers {
  const statuses = new Map<CustomerKey, Status>()
  const called = new Set<Claim>()

  function onStep(key: CustomerKey, step: SyncStep, claim: Claim): void {
    if (step.step === 'answered' && isCall(step.plan.kind)) {
      called.add(claim)
      const { plan, meaning } = step
      addCall(meter, {
        at: now(),
        key,
        kind: step.plan.kind,
        about: describePlan(plan, statuses.get(key)),
        answer: describeAnswer(step.called.outcome, meaning),
        good: ['done', 'present', 'absent'].includes(meaning),
        latencyMs: meaning === 'done' ? latency(key, claim) : null,
      })
      if (meaning === 'done' && 'body' in plan) statuses.set(key, plan.body.status)
    } else if (step.step === 'ended') {
      if (!called.delete(claim) && step.end.kind === 'settle') meter.spared += 1
    }
  }

  /** In this mapping the `user_id` is the customer key. */
  function latency(userId: string, { changedAtMs }: Claim): number | null {
    const arrived = journal.list({ userId, after: journal.last - OTHER_CALLS }).at(-1)?.arrivedAt
    return arrived === undefined || changedAtMs === null ? null : Math.max(0, arrived - changedAtMs)
  }

  return { onCaptured: (changes) => addCaptured(meter, changes), onStep }
}

/** The fields of a call, never their values; a status is named when it changes. */
export function describePlan(plan: Plan, before: Status | undefined): string {
  switch (plan.kind) {
    case 'lookup':
      return plan.why === 'trial' ? 'still on trial?' : 'was it stored?'
    case 'create':
      return `status ${plan.body.status}, ${countOf(Object.keys(plan.body).length - 2, 'field')}`
    case 'replace':
      return `status ${plan.body.status}, all fields`
    case 'patch':
    case 'revoke': {
      const { status, ...fields } = plan.body
      const names = Object.keys(fields)
      return [...(status !== before || names.length === 0 ? [`status ${status}`] : []), ...names].join(', ')
    }
    case 'erase':
      return `status 0, ${countOf(plan.fields.length, 'field')} cleared`
    case 'none':
    case 'reject':
      return ''
    default:
      return plan satisfies never
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  present: 'it is there',
  absent: 'not there',
  failed: 'tried again',
  later: 'tried again',
  'not-sent': 'tried again',
  denied: 'tried again',
}

/** The answer, and its meaning to the worker. */
export function describeAnswer(outcome: Outcome, meaning: string): string {
  const answer = outcome.kind === 'reply' ? String(outcome.status) : outcome.error.replace('-', ' ')
  return `${answer}, ${MEANINGS[meaning] ?? meaning}`
}

function isCall(kind: Plan['kind']): kind is CallKind {
  return METERED_KINDS.some((call) => call === kind)
}
