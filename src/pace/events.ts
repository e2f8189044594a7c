import type { Breaker, BreakerCause } from './breaker.ts'
import type { CommonPace } from './common.ts'
import type { Sign } from './pace.ts'

/**
 * What changed for everybody, for the log: told once, by the process that stored it. `asking`: whether credentials are
 * refused or only those customers; `settled`: only those customers were, or nobody is left with these credentials.
 */
export type PaceEvent =
  | { readonly kind: 'lowered'; readonly rate: number }
  | { readonly kind: 'held'; readonly forMs: number }
  | { readonly kind: 'asking' }
  | { readonly kind: 'settled' }
  | { readonly kind: 'opened'; readonly cause: BreakerCause; readonly nextProbeMs: number }
  | {
      readonly kind: 'probed'
      readonly cause: BreakerCause
      readonly sign: Sign
      /** Probes that failed since it opened. */
      readonly failed: number
    }
  | { readonly kind: 'trying'; readonly rate: number; readonly stoppedForMs: number }
  | { readonly kind: 'closed' }
  /** What calls told could not be stored: name and code of the error. */
  | { readonly kind: 'unheard'; readonly error: string; readonly code?: string }

export function eventsOf(before: CommonPace, after: CommonPace, now: number): readonly PaceEvent[] {
  const trying = after.breaker.state === 'trying' && before.breaker.state === 'open'
  return [
    ...(after.epoch > before.epoch && !trying ? [{ kind: 'lowered', rate: after.rate } as const] : []),
    ...(after.notBefore !== null && after.notBefore > Math.max(now, before.notBefore ?? 0)
      ? [{ kind: 'held', forMs: after.notBefore - now } as const]
      : []),
    ...breakerEvents(before.breaker, after, now),
  ]
}

function breakerEvents(before: Breaker, { breaker: after, rate }: CommonPace, now: number): PaceEvent[] {
  if (after.state === 'open') {
    const isNew = before.state !== 'open' || before.cause !== after.cause
    const nextProbeMs = Math.max(0, (after.probeAt ?? now) - now)
    return isNew && after.cause ? [{ kind: 'opened', cause: after.cause, nextProbeMs }] : []
  }
  if (after.state === 'trying' && before.state === 'open')
    return [{ kind: 'trying', rate, stoppedForMs: now - (after.openedAt ?? now) }]
  return [
    ...(after.state === 'closed' && before.state !== 'closed' ? [{ kind: 'closed' } as const] : []),
    ...(after.cause !== null && before.cause === null ? [{ kind: 'asking' } as const] : []),
    ...(after.cause === null && before.cause !== null && before.state !== 'open'
      ? [{ kind: 'settled' } as const]
      : []),
  ]
}
