import type { Config } from '../config/config.ts'
import { isFullyManaged } from './map.ts'
import type { Policy } from './plan.ts'

/** What a plan goes by besides the customer: one for worker, sweep, dry run and everybody who only looks. */
export function policyOf(config: Config): Policy {
  const { unmanaged, clearWith, onRemove, createWithoutAccess } = config
  return { unmanaged, clearWith, onRemove, createWithoutAccess, fullyManaged: isFullyManaged(config) }
}
