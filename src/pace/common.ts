// The pace that all processes share, and how calls and probes change it. Pure.
import { type Breaker, countForBreaker, isCounting, MOST_CUSTOMERS, type Probe, probed } from './breaker.ts'
import type { CallOutcome } from './pace.ts'

/** Times in milliseconds since 1970, by the clock of Postgres. */
export type CommonPace = {
  /** Calls per second: the most there may be, and what there is now. */
  readonly ceiling: number
  readonly rate: number
  readonly raisedAt: number
  readonly epoch: number
  /** Until when the service asked all processes to wait; null: calls have done well since. */
  readonly notBefore: number | null
  /** The customer for which it was lowered: one customer for which the service always is busy must not slow down all. */
  readonly busy: Times
  /** The customer for which the service asked to wait, which binds all processes. */
  readonly held: Times
  readonly breaker: Breaker
}

/** By the row id of a customer: when it was so last. */
type Times = Readonly<Record<string, number>>

/** `giveBack`: attempts that customers lost to an outage that is over now. */
export type Changed = { readonly pace: CommonPace; readonly giveBack: Breaker['forgiven'] }

/** The longest that one Retry-After may stop all processes. */
export const LONGEST_HOLD_MS = 3_600_000

/** In the order in which they were reported. The same object comes back when they change nothing. */
export function afterCalls(pace: CommonPace, calls: readonly CallOutcome[], now: number): CommonPace {
  return calls.reduce((after, call) => afterCall(after, call, now), pace)
}

function afterCall(pace: CommonPace, call: CallOutcome, now: number): CommonPace {
  const breaker = countForBreaker(pace.breaker, call, now)
  const isOver = call.health === 'well' && pace.notBefore !== null && bindsUntil(pace, now) === 0
  const notBefore = isOver ? null : pace.notBefore
  const counted = breaker === pace.breaker && !isOver ? pace : { ...pace, breaker, notBefore }
  const held = call.holdMs > 0 ? hold(counted, call, now) : counted
  return call.busy ? slower(held, call, now) : held
}

/** Each may come again after an hour only, or after the longest back-off. */
const HELD_REMEMBERED_MS = 2 * LONGEST_HOLD_MS
/** Enough to spare a service that is overloaded, and little where it is a few customers. */
const HELD_FOR_FEW_MS = 10_000
/** It may be all, and it may be a group that stands first in the queue: a few calls a minute find out. */
const HELD_AGAIN_MS = 60_000

/** The first hold binds in full. The same customer again, or one after good calls of others, binds for a moment. */
function hold(pace: CommonPace, { id, holdMs }: CallOutcome, now: number): CommonPace {
  const wasHeld = (at: number | undefined) => isRecent(at, HELD_REMEMBERED_MS, now)
  const again = pace.notBefore === null || wasHeld(pace.held[id]) ? HELD_FOR_FEW_MS : HELD_AGAIN_MS
  const bindsMs = Object.values(pace.held).some(wasHeld) ? Math.min(holdMs, again) : holdMs
  return { ...pace, held: remember(pace.held, id, now, MOST_CUSTOMERS), notBefore: until(pace, bindsMs, now) }
}

/** So many are remembered: a service that is busy for all customers soon is for another one. */
const BUSY_REMEMBERED = 20
/** And for so long: the few customers of a small installation can be all that shows an overload. */
const BUSY_REMEMBERED_MS = 600_000

function slower(pace: CommonPace, { id, epoch }: CallOutcome, now: number): CommonPace {
  if (Number(epoch) < pace.epoch || isRecent(pace.busy[id], BUSY_REMEMBERED_MS, now)) return pace
  return lower({ ...pace, busy: remember(pace.busy, id, now, BUSY_REMEMBERED) }, halved(pace), now)
}

/** A time ahead is one of a clock that was set back. */
function isRecent(at: number | undefined, ms: number, now: number): boolean {
  return at !== undefined && Math.abs(now - at) <= ms
}

/** With the latest of these, at most so many. */
function remember(times: Times, id: string, now: number, most: number): Times {
  const latest = Object.entries({ ...times, [id]: now }).toSorted(([, a], [, b]) => b - a)
  return Object.fromEntries(latest.slice(0, most))
}

/** Whether a good call changes anything, so that it has to be reported. */
export function isTroubled({ breaker, notBefore }: CommonPace): boolean {
  return isCounting(breaker) || notBefore !== null
}

function until(pace: CommonPace, holdMs: number, now: number): number {
  return Math.max(bindsUntil(pace, now), now + Math.min(holdMs, LONGEST_HOLD_MS))
}

/** 0: no call is held. A time further ahead than a hold can be is one of a clock that was set back. */
function bindsUntil({ notBefore }: CommonPace, now: number): number {
  return notBefore !== null && notBefore > now && notBefore <= now + LONGEST_HOLD_MS ? notBefore : 0
}

/**
 * The end of an outage is a slow start in an epoch of its own, and attempts that count no more. Where the first probe does
 * well it was none: all goes on as before, and attempts count, so that a customer that fails again and again waits longer.
 */
export function afterProbe(pace: CommonPace, probe: Probe): Changed {
  const breaker = probed(pace.breaker, probe)
  if (breaker.state !== 'trying') return { pace: { ...pace, breaker }, giveBack: {} }
  const slow = lower(pace, slowStart(pace.ceiling), probe.now)
  return {
    pace: { ...slow, breaker: { ...breaker, forgiven: {}, from: slow.epoch } },
    giveBack: breaker.forgiven,
  }
}

function lower(pace: CommonPace, rate: number, now: number): CommonPace {
  return { ...pace, rate, raisedAt: now, epoch: pace.epoch + 1 }
}

/** No halving goes below this, so that there is always a next call that can be answered better. */
const LEAST_RATE = 0.5
const SLOW_START = 16

/**
 * After a 429 or 503. Only a call whose permit was granted since the last time lowers the rate: fifty answers to the
 * calls of one moment are one piece of news, and would otherwise bring it down to nothing.
 */
function halved({ ceiling, rate }: Pick<CommonPace, 'ceiling' | 'rate'>): number {
  return Math.max(Math.min(ceiling, LEAST_RATE), Math.min(ceiling, rate) / 2)
}

/** Where the rate begins after an outage: a service that has just come back is not met by everything at once. */
function slowStart(ceiling: number): number {
  return Math.min(ceiling, Math.max(1, ceiling / SLOW_START))
}
