import type { Config, Row } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { mapCustomer } from './map.ts'

type Reads = {
  readonly config: Config
  readonly readRow: (key: CustomerKey) => Promise<Row | 'ambiguous' | null>
  readonly readClaimants: (userId: string) => Promise<readonly CustomerKey[]>
}

/**
 * The other customers in scope that claim this user, found among all who were ever settled under its
 * `user_id`: two customers with one user would overwrite each other for ever.
 */
export async function findRivals(reads: Reads, key: CustomerKey, mapped: Mapped): Promise<CustomerKey[]> {
  const userId = userIdOf(mapped)
  if (userId === null) return []
  const others = (await reads.readClaimants(userId)).filter((other) => other !== key)
  const today = await Promise.all(others.map((other) => claimsUser(reads, other, userId)))
  return others.filter((_, at) => today[at])
}

async function claimsUser({ config, readRow }: Reads, key: CustomerKey, userId: string): Promise<boolean> {
  const row = await readRow(key)
  if (row === null || row === 'ambiguous') return false
  const mapped = mapCustomer(config, { key, row })
  return mapped.kind === 'user' && mapped.user.userId === userId
}
