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
 * The longest time that one call needs, in milliseconds: until then its request may arrive. The grace is at most half of
 * the lifetime beyond a GET and a write: the other half is for the work between them, on a busy machine.
 */
export function timeNeededMs({ service, timing }: Pick<Config, 'service' | 'timing'>): number {
  return service.timeoutMs + Math.min(GRACE_MS, (timing.lifetimeMs - 2 * service.timeoutMs) / 2)
}
