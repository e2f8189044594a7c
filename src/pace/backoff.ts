export type Backoff = { readonly minMs: number; readonly maxMs: number }

/** After this many doublings every configured maximum is reached; it keeps the power finite. */
const MOST_DOUBLINGS = 32

/**
 * Full jitter: anything between nothing and a bound that doubles with every failed attempt, so that customers
 * who failed together do not come back together. Never given up.
 */
export function backoffMs(attempts: number, { minMs, maxMs }: Backoff, random: () => number): number {
  const bound = Math.min(maxMs, minMs * 2 ** Math.min(attempts, MOST_DOUBLINGS))
  return Math.round(random() * bound)
}
