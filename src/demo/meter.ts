// What the demo has seen so far: a small reducer over what is observed. Times in milliseconds since 1970.
import type { Standing } from './standing.ts'

export const CALL_KINDS = ['create', 'replace', 'patch', 'revoke', 'lookup'] as const
export type CallKind = (typeof CALL_KINDS)[number]
export type CallCounts = Readonly<Record<CallKind, number>>

export type PhaseShown = {
  /** From 1; 0 before and after the story. */
  readonly number: number
  readonly of: number
  readonly name: string
  readonly says: string
  readonly look: string
}

/** One call as it is shown: names of fields, never their values. */
export type Called = {
  readonly at: number
  readonly key: string
  readonly kind: CallKind
  readonly about: string
  readonly answer: string
  readonly good: boolean
  /** From the change to the arrival of the call that the service acknowledged; null for every other call. */
  readonly latencyMs: number | null
}

export type Observed =
  /** Everything stands; `target` is the service in words. */
  | { readonly what: 'opened'; readonly target: string }
  | { readonly what: 'phase'; readonly phase: PhaseShown }
  | { readonly what: 'captured'; readonly changes: number }
  | { readonly what: 'called'; readonly called: Called }
  /** A customer was looked at and nothing had to be sent. */
  | { readonly what: 'spared' }
  | { readonly what: 'standing'; readonly standing: Standing }

export type PhaseTotals = {
  readonly name: string
  readonly captured: number
  readonly calls: CallCounts
  readonly latencies: readonly number[]
}

export type Meter = {
  readonly startedAt: number
  readonly target: string | null
  readonly phase: PhaseShown | null
  readonly captured: number
  readonly calls: CallCounts
  readonly spared: number
  /** The last calls, oldest first. */
  readonly recent: readonly Called[]
  readonly standing: Standing | null
  /** The story's phases so far; the last one is going on. */
  readonly phases: readonly PhaseTotals[]
}

/** Enough for the tallest terminal, and for ten seconds at the demo's pace. */
const RECENT = 800

const NO_CALLS: CallCounts = { create: 0, replace: 0, patch: 0, revoke: 0, lookup: 0 }

export function startMeter(startedAt: number): Meter {
  return {
    startedAt,
    target: null,
    phase: null,
    captured: 0,
    calls: NO_CALLS,
    spared: 0,
    recent: [],
    standing: null,
    phases: [],
  }
}

export function advance(meter: Meter, observed: Observed): Meter {
  switch (observed.what) {
    case 'opened':
      return { ...meter, target: observed.target }
    case 'phase': {
      const { phase } = observed
      const begun = { name: phase.name, captured: 0, calls: NO_CALLS, latencies: [] }
      return { ...meter, phase, phases: phase.number === 0 ? meter.phases : [...meter.phases, begun] }
    }
    case 'captured': {
      const add = (captured: number) => captured + observed.changes
      return {
        ...meter,
        captured: add(meter.captured),
        phases: inLast(meter, (phase) => ({ ...phase, captured: add(phase.captured) })),
      }
    }
    case 'called': {
      const { called } = observed
      return {
        ...meter,
        calls: counted(meter.calls, called.kind),
        recent: [...meter.recent, called].slice(-RECENT),
        phases: inLast(meter, (phase) => ({
          ...phase,
          calls: counted(phase.calls, called.kind),
          latencies: called.latencyMs === null ? phase.latencies : [...phase.latencies, called.latencyMs],
        })),
      }
    }
    case 'spared':
      return { ...meter, spared: meter.spared + 1 }
    case 'standing':
      return { ...meter, standing: observed.standing }
    default:
      return observed satisfies never
  }
}

/** The value below which such a share of all lies; null when there is none. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

export function totalCalls(calls: CallCounts): number {
  return CALL_KINDS.reduce((sum, kind) => sum + calls[kind], 0)
}

function counted(calls: CallCounts, kind: CallKind): CallCounts {
  return { ...calls, [kind]: calls[kind] + 1 }
}

function inLast({ phases }: Meter, change: (phase: PhaseTotals) => PhaseTotals): readonly PhaseTotals[] {
  return phases.map((phase, index) => (index === phases.length - 1 ? change(phase) : phase))
}
