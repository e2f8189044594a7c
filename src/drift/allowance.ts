// How fast customers are verified, the calls that may be made by now, and when verification stands back. Pure.

/** Calls are gathered for no longer than this, so that they come evenly and not in bursts. */
const GATHERED_S = 0.5

export type Allowance = {
  /** Calls that may be made now; a part of one is kept for later. */
  readonly left: number
  /** Monotonic milliseconds. */
  readonly at: number
}

/** `speed`: calls per second. */
export function refill({ left, at }: Allowance, speed: number, now: number): Allowance {
  const gathered = (speed * Math.max(0, now - at)) / 1000
  return { left: Math.min(Math.max(1, speed * GATHERED_S), left + gathered), at: now }
}

export type Circumstances = {
  /** Calls per second that may be made now; 0 while everybody is held or stopped. */
  readonly rate: number
  /** A change, a removal or a repair has waited for longer than dispatch takes. */
  readonly liveWaits: boolean
  /** Syncs go by our mapping, and to our target. */
  readonly current: boolean
  /** Everybody who differs under the present mapping is noted. */
  readonly swept: boolean
  /** Changes may be missing: a resync of everybody is to come. */
  readonly gap: boolean
}

/**
 * Why nobody is to be looked at now. `live`: who waits for a call goes first. `mapping`, `gap`: what differs now will be
 * owed in a moment, and is no drift.
 */
export type Standstill = 'stopped' | 'live' | 'mapping' | 'gap'

export function standstill({ rate, liveWaits, current, swept, gap }: Circumstances): Standstill | null {
  if (!current || !swept) return 'mapping'
  if (gap) return 'gap'
  if (rate <= 0) return 'stopped'
  return liveWaits ? 'live' : null
}

/** What is owed goes first in any case; workers leave most of the pace to it, and a run that a person waits for half. */
const SHARE = { tick: 0.25, run: 0.5 }

export function speedOfTicks(rate: number): number {
  return rate * SHARE.tick
}

/** `asked`: the limit that was asked for. Nobody is faster than the common pace. */
export function speedOf(rate: number, asked: number | null): number {
  return asked === null ? rate * SHARE.run : Math.min(rate, asked)
}
