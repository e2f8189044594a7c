// How fast customers are verified, in calls per second; `rate`: what all processes together may make. Pure.

/** What is owed goes first in any case; workers leave most of the pace to it, and a run that a person waits for half. */
const SHARE = { tick: 0.25, run: 0.5 }

export function speedOfTicks(rate: number): number {
  return rate * SHARE.tick
}

/** `asked`: the limit that was asked for. Nobody is faster than the common pace. */
export function speedOf(rate: number, asked: number | null): number {
  return asked === null ? rate * SHARE.run : Math.min(rate, asked)
}
