// What the demo has measured so far. Times in milliseconds since 1970.
import type { DemoSnapshot } from './snapshot.ts'
import type { Phase } from './story.ts'

export const METERED_KINDS = ['create', 'replace', 'patch', 'revoke', 'lookup'] as const
export type CallKind = (typeof METERED_KINDS)[number]
export type CallCounts = Record<CallKind, number>

/** One call as it is shown: names of fields, never their values. */
export type MeteredCall = {
  readonly at: number
  readonly key: string
  readonly kind: CallKind
  readonly about: string
  readonly answer: string
  readonly good: boolean
  /** From the change to the arrival of the call that the service acknowledged; null for every other call. */
  readonly latencyMs: number | null
}

type Measured = { captured: number; readonly calls: CallCounts; readonly latencies: number[] }

export type Meter = {
  readonly startedAt: number
  /** The service in words, once it runs. */
  target: string
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
  return { startedAt, target: '', shown, spared: 0, recent: [], snapshot: null, phases: [] }
}

export function beginPhase(meter: Meter, { name, says, look }: Phase, of: number): void {
  meter.phases.push({ name, captured: 0, calls: noCalls(), latencies: [] })
  meter.shown = { place: `${meter.phases.length}/${of}`, says, look }
}

export function addCaptured(meter: Meter, changes: number): void {
  const phase = meter.phases.at(-1)
  if (phase) phase.captured += changes
}

export function addCall(meter: Meter, called: MeteredCall): void {
  meter.recent.push(called)
  if (meter.recent.length > RECENT) meter.recent.shift()
  const phase = meter.phases.at(-1)
  if (!phase) return
  phase.calls[called.kind] += 1
  if (called.latencyMs !== null) phase.latencies.push(called.latencyMs)
}

/** All phases together. */
export function totals({ phases }: Meter): Measured {
  const calls = noCalls()
  for (const kind of METERED_KINDS) for (const phase of phases) calls[kind] += phase.calls[kind]
  return {
    captured: phases.reduce((sum, { captured }) => sum + captured, 0),
    calls,
    latencies: phases.flatMap(({ latencies }) => latencies),
  }
}

export type Latency = { readonly medianMs: number | null; readonly p95Ms: number | null }

/** Values that occurred, rounded; null when there are none. */
export function latencyOf(values: readonly number[]): Latency {
  const sorted = values.toSorted((a, b) => a - b)
  const quantile = (share: number) => {
    const value = sorted[Math.floor(sorted.length * share)]
    return value === undefined ? null : Math.round(value)
  }
  return { medianMs: quantile(0.5), p95Ms: quantile(0.95) }
}

function noCalls(): CallCounts {
  return { create: 0, replace: 0, patch: 0, revoke: 0, lookup: 0 }
}
