import type { Config } from '../config/config.ts'
import type { FoundRow } from '../customers/read.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { mapFound } from './map.ts'

type Reads = {
  readonly config: Config
  readonly readRow: (key: CustomerKey) => Promise<FoundRow>
  /** The database's time, by which the others are mapped. */
  readonly now: Date
}

/**
 * Those in scope who claim this user, of all `others` who were ever settled under its `user_id`: two customers with
 * one user would overwrite each other for ever.
 *
 * A customer with a row that cannot be mapped (an unknown plan, several rows) is no rival of one that can be mapped;
 * but no access is taken away from under them.
 */
export async function findRivals(
  reads: Reads,
  others: readonly CustomerKey[],
  mapped: Mapped,
): Promise<CustomerKey[]> {
  const userId = userIdOf(mapped)
  const spared = mapped.kind === 'removed' || mapped.kind === 'out-of-scope'
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
