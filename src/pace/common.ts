// What all processes share about their pace, and what calls and probes make of it. Pure.
import { halved, type Rate, slowStart } from './adapt.ts'
import { type Breaker, hear, type Probe, probed } from './breaker.ts'
import type { HeardCall } from './pace.ts'
import type { TroubleTally } from './tally.ts'

/** Times in milliseconds since 1970, by the clock of Postgres. */
export type CommonPace = Rate & {
  readonly raisedAt: number
  /** How often the rate was lowered. */
  readonly epoch: number
  readonly notBefore: number | null
  /** For whom it was lowered last: one customer for whom the service always is busy must not slow down everybody. */
  readonly busyFor: readonly string[]
  /** When the last of these was busy. */
  readonly busySince: number
  readonly breaker: Breaker
}

/** `giveBack`: attempts that customers lost to an outage that is over now. */
export type Changed = { readonly pace: CommonPace; readonly giveBack: TroubleTally }

/** The longest that one Retry-After may stop everybody. */
export const LONGEST_HOLD_MS = 3_600_000

/** In the order in which they were heard. The same object comes back when they change nothing. */
export function afterCalls(pace: CommonPace, calls: readonly HeardCall[], now: number): Changed {
  return { pace: calls.reduce((heard, call) => afterCall(heard, call, now), pace), giveBack: {} }
}

function afterCall(pace: CommonPace, call: HeardCall, now: number): CommonPace {
  const breaker = hear(pace.breaker, call, now)
  const heard = breaker === pace.breaker ? pace : { ...pace, breaker }
  const asks = call.holdMs > 0 && !isKnownBusy(pace, call, now)
  const held = asks ? { ...heard, notBefore: until(heard, call.holdMs, now) } : heard
  return call.busy ? slower(held, call, now) : held
}

/** So many are remembered: a service that is busy for everybody soon is for somebody else. */
const REMEMBERED = 20
/** And for so long after the last of them, since each may come again after an hour only. */
const REMEMBERED_MS = 2 * LONGEST_HOLD_MS

function isOver({ busySince }: CommonPace, now: number): boolean {
  return Math.abs(now - busySince) > REMEMBERED_MS
}

/** The service always is busy for this customer: what it asks for binds nobody else. */
function isKnownBusy(pace: CommonPace, { id }: HeardCall, now: number): boolean {
  return !isOver(pace, now) && pace.busyFor.includes(id)
}

function slower(pace: CommonPace, call: HeardCall, now: number): CommonPace {
  if (isKnownBusy(pace, call, now)) return pace.busySince === now ? pace : { ...pace, busySince: now }
  if (Number(call.epoch) < pace.epoch) return pace
  const busyFor = [...(isOver(pace, now) ? [] : pace.busyFor), call.id].slice(-REMEMBERED)
  return lower({ ...pace, busyFor, busySince: now }, halved(pace), now)
}

function until({ notBefore }: CommonPace, holdMs: number, now: number): number {
  return Math.max(notBefore ?? 0, now + Math.min(holdMs, LONGEST_HOLD_MS))
}

/**
 * The end of an outage is a slow start in an epoch of its own, and attempts that count no more. Where the first probe does
 * well it was none: all goes on as before, and attempts count, so that whoever fails again and again waits longer.
 */
export function afterProbe(pace: CommonPace, probe: Probe): Changed {
  const breaker = probed(pace.breaker, probe)
  if (breaker.state !== 'trying') return { pace: { ...pace, breaker }, giveBack: {} }
  const slow = lower(pace, slowStart(pace.ceiling), probe.now)
  return {
    pace: { ...slow, breaker: { ...breaker, burnt: {}, from: slow.epoch } },
    giveBack: breaker.burnt,
  }
}

function lower(pace: CommonPace, rate: number, now: number): CommonPace {
  return { ...pace, rate, raisedAt: now, epoch: pace.epoch + 1 }
}
