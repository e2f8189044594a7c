import type { Config } from '../config/config.ts'
import { isLoopback } from './address.ts'

/** Which service it is, for every output: section 4 has production and development at separate addresses. */
export function describeTarget(origin: string, { service }: Pick<Config, 'service'>): string {
  return isLoopback(new URL(origin).hostname) ? `${origin} (local)` : `${origin} (${service.environment})`
}
