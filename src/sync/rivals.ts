import type { Config } from '../config/config.ts'
import type { FoundRow } from '../customers/read.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { mapFound } from './map.ts'

type Reads = {
  readonly config: Config
  readonly readRow: (key: CustomerKey) => Promise<FoundRow>
  readonly readClaimants: (userId: string) => Promise<readonly CustomerKey[]>
  /** The database's time, by which the others are mapped. */
  readonly now: Date
}

/**
 * The other customers in scope that claim this user, found among all who were ever settled under its
 * `user_id`: two customers with one user would overwrite each other for ever.
 *
 * Whoever has a row but cannot be told what to be (a plan that is not known, several rows) is no rival of a
 * customer who can; but nobody's access is taken away from under them.
 */
export async function findRivals(reads: Reads, key: CustomerKey, mapped: Mapped): Promise<CustomerKey[]> {
  const userId = userIdOf(mapped)
  if (userId === null) return []
  const spared = mapped.kind === 'removed' || mapped.kind === 'out-of-scope'
  const others = (await reads.readClaimants(userId)).filter((other) => other !== key)
  const today = await Promise.all(others.map((other) => mapOther(reads, other)))
  return others.filter((_, at) => {
    const other = today[at]
    if (!other || userIdOf(other) !== userId) return false
    return other.kind === 'user' || (spared && other.kind === 'rejected')
  })
}

async function mapOther({ config, readRow, now }: Reads, key: CustomerKey): Promise<Mapped> {
  return mapFound(config, key, await readRow(key), now)
}
