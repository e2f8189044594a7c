// How fast a run that a person asked for goes. Pure.
import type { Allowance } from './allowance.ts'

/** The rest of the common pace is left to what is owed, which goes first in any case. */
const SHARE = 0.5
/** Calls are gathered for no longer than this. */
const GATHERED_S = 0.5

/** Calls per second; `asked`: the limit that was asked for. Nobody is faster than the common pace (`rate`). */
export function speedOf(rate: number, asked: number | null): number {
  return asked === null ? rate * SHARE : Math.min(rate, asked)
}

/** The calls that may be made by now. */
export function gather({ left, at }: Allowance, speed: number, now: number): Allowance {
  const gathered = (speed * Math.max(0, now - at)) / 1000
  return { left: Math.min(Math.max(1, speed * GATHERED_S), left + gathered), at: now }
}
