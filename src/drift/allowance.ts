// How fast checks are made: a part of the pace that all calls share.

/** Owed syncs go first in any case; workers leave most of the pace to them, and a run that a person waits for half. */
export const SHARE = { schedule: 0.25, run: 0.5 }

/** More in one go would be read long before they are checked, and held long by one transaction. */
export const MOST_AT_ONCE = 100

/** Calls are gathered for no longer than this, so that they come evenly and not in bursts. */
const GATHERED_S = 0.5

/** Calls that may be made by now; a part of one is kept for later. `now`: monotonic milliseconds. */
export function makeAllowance(now: () => number) {
  let left = 1
  let at = now()

  return {
    /** How many may be made in one go, at so many a second since the last refill. */
    refill(speed: number): number {
      const since = at
      at = now()
      const gathered = (speed * Math.max(0, at - since)) / 1000
      left = Math.min(Math.max(1, speed * GATHERED_S), left + gathered)
      return Math.min(MOST_AT_ONCE, Math.floor(left))
    },
    spend(calls: number): void {
      left -= calls
    },
  }
}
