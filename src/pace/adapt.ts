// How fast all processes together may call: up a little every second, down by half when the service is busy.

/** Calls per second: the most there may be, and what there is now. */
export type Rate = { readonly ceiling: number; readonly rate: number }

/** From nothing to the ceiling in so many seconds. */
export const RISE_SECONDS = 30
/** Calls per second that are added in a second at least, so that a low ceiling is reached as well. */
export const LEAST_RISE = 0.5
/** Time without a request proves nothing: more than this is not counted between two who ask. */
export const LONGEST_RISE_MS = 2000
/** No halving goes below this, so that there is always a next call that can be answered better. */
const LEAST_RATE = 0.5
const SLOW_START = 16

/**
 * After a 429 or 503. Only a call whose permit was granted since the last time lowers the rate: fifty answers to the
 * calls of one moment are one piece of news, and would otherwise bring it down to nothing.
 */
export function halved({ ceiling, rate }: Rate): number {
  return Math.max(Math.min(ceiling, LEAST_RATE), Math.min(ceiling, rate) / 2)
}

/** Where the rate begins after an outage: a service that has just come back is not met by everything at once. */
export function slowStart(ceiling: number): number {
  return Math.min(ceiling, Math.max(1, ceiling / SLOW_START))
}
