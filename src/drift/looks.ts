// When somebody who differs is looked at again. Pure.
/** A change or a repair that is under way is over soon. */
const SOON_MS = 2000
/** A difference that comes back after so many repairs is one for a person. */
export const MOST_REPAIRS = 3

export type Lag = { readonly consistencyDelayMs: number }

/** Never sooner than the service may lag. */
export function secondLookMs({ consistencyDelayMs }: Lag): number {
  return consistencyDelayMs
}

export function postponedMs({ consistencyDelayMs }: Lag): number {
  return Math.max(consistencyDelayMs, SOON_MS)
}

/**
 * What is set for somebody whose difference may be a write that is not shown yet: a look before that says nothing. A later
 * time is one for workers (answers that nobody believed), or one of before the clock was set back: it keeps no other look
 * from counting.
 */
export function longestLagMs(
  { looks, repairs }: { readonly looks: number; readonly repairs: number },
  lag: Lag,
) {
  return postponedMs(lag) * (looks < 2 ? 1 : 2 ** repairs)
}
