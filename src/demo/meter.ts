// What the demo has measured so far. Times in milliseconds since 1970.
import type { Claim } from '../ledger/claim.ts'
import type { Overview } from '../ledger/overview.ts'
import type { Plan } from '../sync/plan.ts'
import type { Observers } from '../worker/worker.ts'

export const METERED_KINDS = ['create', 'replace', 'patch', 'revoke', 'lookup'] as const
type CallKind = (typeof METERED_KINDS)[number]
export type CallCounts = Record<CallKind, number>

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

type Measured = { captured: number; readonly calls: CallCounts; readonly latencies: number[] }

/** `customers`: rows of the shop's table; `users`: those at the service. */
export type DemoSnapshot = Overview & { readonly customers: number; readonly users: number }

export type Meter = {
  readonly startedAt: number
  /** The service in words, once it runs. */
  target: string
  /** Calls a second that all workers together may make. */
  ceiling: number
  /** `place` is empty before and after the story. */
  shown: { readonly place: string; readonly says: string; readonly look: string }
  /** Claims that settled without a call. */
  spared: number
  /** The last calls, oldest first. */
  readonly recent: MeteredCall[]
  snapshot: DemoSnapshot | null
  /** The last phase is the current one. */
  readonly phases: (Measured & { readonly name: string })[]
}

/** Enough for ten seconds at the demo's pace. */
const RECENT = 800

export function startMeter(startedAt: number): Meter {
  const shown = { place: '', says: '', look: '' }
  return { startedAt, target: '', ceiling: 0, shown, spared: 0, recent: [], snapshot: null, phases: [] }
}

export function beginPhase({ phases }: Meter, name: string): void {
  phases.push({ name, captured: 0, calls: noCalls(), latencies: [] })
}

function noCalls(): CallCounts {
  return { create: 0, replace: 0, patch: 0, revoke: 0, lookup: 0 }
}

/** All phases together. */
export function totals({ phases }: Meter): Measured {
  const total = { captured: 0, calls: noCalls(), latencies: phases.flatMap(({ latencies }) => latencies) }
  for (const { captured, calls } of phases) {
    total.captured += captured
    for (const kind of METERED_KINDS) total.calls[kind] += calls[kind]
  }
  return total
}

/** Values that occurred, rounded; null when there are none. */
export function latencyOf(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round)
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
      const acknowledged = step.meaning === 'done' && claim.changedAtMs !== null
      addCall(meter, {
        ...{ at: now(), key, kind, about: describePlan(step.plan) },
        answer: `${answer}, ${step.meaning}`,
        good: ['done', 'present', 'absent'].includes(step.meaning),
        latencyMs: acknowledged
          ? Math.round(Math.max(0, now() - durationMs - (claim.changedAtMs ?? 0)))
          : null,
      })
    },
  }
}

export function addCall({ recent, phases }: Meter, call: MeteredCall): void {
  recent.push(call)
  if (recent.length > RECENT) recent.shift()
  const phase = phases.at(-1)
  if (!phase) return
  phase.calls[call.kind] += 1
  if (call.latencyMs !== null) phase.latencies.push(call.latencyMs)
}

function describePlan(plan: Plan): string {
  if (plan.kind === 'lookup') return plan.why === 'trial' ? 'still on trial?' : 'was it stored?'
  if (!('body' in plan)) return ''
  const { status, ...fields } = plan.body
  const names = Object.keys(fields)
  return names.length > 3
    ? `status ${status}, ${names.length} fields`
    : names.join(', ') || `status ${status}`
}
