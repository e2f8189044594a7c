import type { Config } from '../config/config.ts'
import type { ClearWith } from '../config/define.ts'
import type { OptionalField } from '../model/user.ts'
import { isFullyManaged } from './map.ts'

export type Policy = {
  readonly unmanaged: 'keep' | 'clear'
  readonly clearWith: Readonly<Record<OptionalField, ClearWith>>
  readonly onRemove: 'revoke' | 'erase' | 'ignore'
  /** Customers with status 0 whom the service does not have are registered all the same. */
  readonly createWithoutAccess: boolean
  /** Every updatable field is set by the mapping. */
  readonly fullyManaged: boolean
}

/** What a plan goes by besides the customer: one for worker, sweep, dry run and everybody who only looks. */
export function policyOf(config: Config): Policy {
  const { unmanaged, clearWith, onRemove, createWithoutAccess } = config
  return { unmanaged, clearWith, onRemove, createWithoutAccess, fullyManaged: isFullyManaged(config) }
}
