// What all processes share about their pace, and what calls and probes make of it. Pure.
import { halved, type Rate, slowStart } from './adapt.ts'
import { type Breaker, hear, type Probe, probed } from './breaker.ts'
import type { HeardCall } from './pace.ts'
import { MOST_CUSTOMERS, type TroubleTally } from './tally.ts'

/** Times in milliseconds since 1970, by the clock of Postgres. */
export type CommonPace = Rate & {
  readonly raisedAt: number
  /** How often the rate was lowered. */
  readonly epoch: number
  readonly notBefore: number | null
  /** For whom it was lowered last: one customer for whom the service always is busy must not slow down everybody. */
  readonly busyFor: readonly string[]
  /** Since when these are remembered. */
  readonly busySince: number
  /** For whom the service asked everybody to wait, and when it did so last: the same customer again binds others for a moment only. */
  readonly heldFor: readonly string[]
  readonly heldAt: number
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
  const held = call.holdMs > 0 ? hold(heard, call, now) : heard
  return call.busy ? slower(held, call, now) : held
}

/** Each may come again after an hour only, or after the longest back-off. */
const HELD_REMEMBERED_MS = 2 * LONGEST_HOLD_MS
/** Enough to spare a service that is overloaded, and little where it is this one customer. */
const HELD_AGAIN_MS = 10_000

function hold(pace: CommonPace, { id, holdMs }: HeardCall, now: number): CommonPace {
  const known = Math.abs(now - pace.heldAt) > HELD_REMEMBERED_MS ? [] : pace.heldFor
  const isKnown = known.includes(id)
  const heldFor = isKnown ? known : [...known, id].slice(-MOST_CUSTOMERS)
  const bindsMs = isKnown ? Math.min(holdMs, HELD_AGAIN_MS) : holdMs
  return { ...pace, heldFor, heldAt: now, notBefore: until(pace, bindsMs, now) }
}

/** So many are remembered: a service that is busy for everybody soon is for somebody else. */
const REMEMBERED = 20
/** And for so long: the few customers of a small installation can be all that is heard of an overload. */
const REMEMBERED_MS = 600_000

function slower(pace: CommonPace, { id, epoch }: HeardCall, now: number): CommonPace {
  const fresh = Math.abs(now - pace.busySince) > REMEMBERED_MS
  const before = fresh ? [] : pace.busyFor
  if (Number(epoch) < pace.epoch || before.includes(id)) return pace
  const busyFor = [...before, id].slice(-REMEMBERED)
  const busySince = fresh ? now : pace.busySince
  return lower({ ...pace, busyFor, busySince }, halved(pace), now)
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
