// Everything that all processes share about their pace, and what calls and probes make of it. Pure.
import { halved, type Rate, slowStart } from './adapt.ts'
import { type Breaker, hear, type Listener } from './breaker.ts'
import type { HeardCall } from './pace.ts'
import { type Probe, probed } from './probed.ts'
import type { TroubleTally } from './tally.ts'

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
  readonly breaker: Breaker
}

/** `giveBack`: attempts that customers lost to what is over now. */
export type Changed = { readonly pace: CommonPace; readonly giveBack: TroubleTally }

/** The longest that one Retry-After may stop everybody. */
export const LONGEST_HOLD_MS = 3_600_000

/** In the order in which they were heard. The same object comes back when they change nothing. */
export function afterCalls(pace: CommonPace, calls: readonly HeardCall[], by: Listener): Changed {
  return changed(
    pace,
    calls.reduce((now, call) => afterCall(now, call, by), pace),
    by.now,
  )
}

function afterCall(pace: CommonPace, call: HeardCall, by: Listener): CommonPace {
  const breaker = hear(pace.breaker, call, by)
  const heard = breaker === pace.breaker ? pace : { ...pace, breaker }
  const held = call.holdMs > 0 ? { ...heard, notBefore: until(heard, call.holdMs, by.now) } : heard
  return call.busy ? slower(held, call, by.now) : held
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

export function afterProbe(pace: CommonPace, probe: Probe): Changed {
  return changed(pace, { ...pace, breaker: probed(pace.breaker, probe) }, probe.now)
}

/** What follows the end of an outage or a halt: a slow start in an epoch of its own, and attempts that count no more. */
function changed(before: CommonPace, after: CommonPace, now: number): Changed {
  if (!someoneMayGoOn(before.breaker, after.breaker)) return { pace: after, giveBack: {} }
  const breaker = { ...after.breaker, burnt: {} }
  const giveBack = after.breaker.burnt
  // Where others have gone on meanwhile, the rate is right for them.
  const wentOn = breaker.state === 'closed' || before.breaker.cause === breaker.cause
  if (wentOn) return { pace: { ...after, breaker }, giveBack }
  const slow = lower(after, slowStart(after.ceiling), now)
  return { pace: { ...slow, breaker: { ...breaker, from: slow.epoch } }, giveBack }
}

function someoneMayGoOn(before: Breaker, after: Breaker): boolean {
  if (before.state !== 'open') return false
  return after.cause !== before.cause
    ? after.cause !== 'outage'
    : after.refused.length < before.refused.length
}

function lower(pace: CommonPace, rate: number, now: number): CommonPace {
  return { ...pace, rate, raisedAt: now, epoch: pace.epoch + 1 }
}
