import type { Config } from '../config/config.ts'
import type { NamedService } from '../model/service.ts'
import { isLoopback } from './address.ts'

/** Section 4 has production and development at separate addresses. */
export function namedService(origin: string, { service }: Pick<Config, 'service'>): NamedService {
  return { origin, environment: service.environment, local: isLoopback(new URL(origin).hostname) }
}
