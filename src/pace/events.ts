import type { CommonPace } from './common.ts'
import type { ServiceHealth } from './pace.ts'

/** About the keys of this process. `asking`: are they refused, or these customers; `settled`: these customers are. */
export type KeysEvent =
  | { readonly kind: 'asking' }
  | { readonly kind: 'settled' }
  | { readonly kind: 'refused'; readonly nextProbeMs: number }
  | { readonly kind: 'taken'; readonly stoppedForMs: number }

/** The changes, for the log. A change for all processes is logged once, by the process that stored it. */
export type PaceEvent =
  | KeysEvent
  | { readonly kind: 'lowered'; readonly rate: number }
  | { readonly kind: 'held'; readonly forMs: number }
  | { readonly kind: 'opened'; readonly nextProbeMs: number }
  | { readonly kind: 'probed'; readonly health: ServiceHealth }
  | { readonly kind: 'trying'; readonly rate: number; readonly stoppedForMs: number }
  | { readonly kind: 'closed' }
  /** The outcomes of calls could not be stored: name and code of the error. */
  | { readonly kind: 'unreported'; readonly error: string; readonly code?: string }

export function eventsOf(before: CommonPace, after: CommonPace, now: number): readonly PaceEvent[] {
  const { state, openedAt, probeAt, failed } = after.breaker
  const was = before.breaker.state
  const trying = state === 'trying' && was === 'open'
  const { notBefore } = after
  const rate = Number(after.rate.toFixed(2))
  return [
    ...(after.epoch > before.epoch && !trying ? [{ kind: 'lowered', rate } as const] : []),
    ...(notBefore !== null && notBefore > Math.max(now, before.notBefore ?? 0)
      ? [{ kind: 'held', forMs: notBefore - now } as const]
      : []),
    // With the first probe that fails: until then it may be a few values at which the service breaks.
    ...(state === 'open' && failed === 1 && before.breaker.failed === 0
      ? [{ kind: 'opened', nextProbeMs: Math.round(Math.max(0, (probeAt ?? now) - now)) } as const]
      : []),
    ...(trying ? [{ kind: 'trying', rate, stoppedForMs: Math.round(now - (openedAt ?? now)) } as const] : []),
    ...(state === 'closed' && was === 'trying' ? [{ kind: 'closed' } as const] : []),
  ]
}
