import type { Config } from '../config/config.ts'

/** Time to spare between the end of the longest request and the end of a claim, where its lifetime has room. */
const GRACE_MS = 1000

/** What one call needs at the most, in milliseconds: until then its request may arrive. */
export function timeNeededMs({ service, timing }: Pick<Config, 'service' | 'timing'>): number {
  return service.timeoutMs + Math.min(GRACE_MS, (timing.lifetimeMs - service.timeoutMs) / 2)
}
