import type { Config } from '../config/config.ts'

/** Time to spare between the end of the longest request and the end of a claim. */
const GRACE_MS = 1000

/**
 * How long no other process may look after a claim was made: as long as its calls may go on, and what the last of them did
 * may not be shown yet. A look that misses it would be believed.
 */
export function claimLastsMs({ timing }: Pick<Config, 'timing'>): number {
  return timing.lifetimeMs + timing.consistencyDelayMs
}

/**
 * What one call needs at the most, in milliseconds: until then its request may arrive. Of what the lifetime has beyond a
 * GET and a write half is the grace at most: the other half is for the work between them, on a busy machine.
 */
export function timeNeededMs({ service, timing }: Pick<Config, 'service' | 'timing'>): number {
  return service.timeoutMs + Math.min(GRACE_MS, (timing.lifetimeMs - 2 * service.timeoutMs) / 2)
}
