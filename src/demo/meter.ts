// The measurements of the demo so far. Times in milliseconds since 1970.
import type { Claim } from '../ledger/claim.ts'
import type { Overview } from '../ledger/overview.ts'
import type { Plan } from '../sync/plan.ts'
import type { Observers } from '../worker/worker.ts'

export const METERED_KINDS = ['create', 'replace', 'patch', 'revoke', 'lookup'] as const
type CallKind = (typeof METERED_KINDS)[number]

/** One call as it is shown: names of fields, never their values. */
export type MeteredCall = {
  readonly at: number
  readonly key: string
  readonly kind: CallKind
  readonly about: string
  readonly answer: string
  readonly good: boolean
  /** From the change to the call that the service acknowledged; null for every other call. */
  readonly latencyMs: number | null
}

/** `calls`: oldest first. */
type MeteredPhase = { readonly name: string; captured: number; readonly calls: MeteredCall[] }

/** `customers`: rows of the shop's table; `users`: those at the service. */
export type DemoSnapshot = Overview & { readonly customers: number; readonly users: number }

export type Meter = ReturnType<typeof startMeter>

export function startMeter(startedAt: number) {
  return {
    startedAt,
    /** The service in words, once it runs. */
    target: '',
    /** Calls a second that all workers together may make. */
    ceiling: 0,
    /** `place` is empty before and after the story. */
    shown: { place: '', says: '', hint: '' },
    /** Claims that settled without a call. */
    spared: 0,
    snapshot: null as DemoSnapshot | null,
    /** The last phase is the current one. */
    phases: [] as MeteredPhase[],
  }
}

export function measure(phases: readonly MeteredPhase[]) {
  const all = phases.flatMap(({ calls }) => calls)
  const calls = { create: 0, replace: 0, patch: 0, revoke: 0, lookup: 0 }
  for (const { kind } of all) calls[kind] += 1
  return { captured: phases.reduce((sum, { captured }) => sum + captured, 0), calls, arrival: arrivalOf(all) }
}

/** Latencies that occurred, rounded; null when there are none. */
export function arrivalOf(calls: readonly MeteredCall[]) {
  const latencies = calls.flatMap(({ latencyMs }) => latencyMs ?? [])
  const sorted = latencies.toSorted((a, b) => a - b).map(Math.round)
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? null
  return { medianMs: quantile(0.5), p95Ms: quantile(0.95) }
}

export function observeWorker(meter: Meter, now: () => number): Observers {
  const called = new Set<Claim>()
  return {
    onCaptured(changes) {
      const phase = meter.phases.at(-1)
      if (phase) phase.captured += changes
    },
    onStep(key, step, claim) {
      if (step.step === 'ended' && !called.delete(claim) && step.end.kind === 'settle') meter.spared += 1
      if (step.step !== 'answered') return
      const kind = METERED_KINDS.find((each) => each === step.plan.kind)
      if (!kind) return
      called.add(claim)
      const { outcome, durationMs } = step.called
      const answer = outcome.kind === 'reply' ? outcome.status : outcome.error.replace('-', ' ')
      const changedAt = step.called.meaning === 'done' ? claim.changedAtMs : null
      meter.phases.at(-1)?.calls.push({
        ...{ at: now(), key, kind, about: describePlan(step.plan) },
        answer: `${answer}, ${step.called.meaning}`,
        good: ['done', 'present', 'absent'].includes(step.called.meaning),
        latencyMs: changedAt === null ? null : Math.round(Math.max(0, now() - durationMs - changedAt)),
      })
    },
  }
}

const LOOKUP = {
  unknown: 'was it stored?',
  unasked: 'is it known?',
  trial: 'still on trial?',
  erased: 'is it cleared?',
}

function describePlan(plan: Plan): string {
  if (plan.kind === 'lookup') return LOOKUP[plan.why]
  if (!('body' in plan)) return ''
  const { status, ...fields } = plan.body
  const names = Object.keys(fields)
  if (names.length > 3) return `status ${status}, ${names.length} fields`
  return names.join(', ') || `status ${status}`
}
