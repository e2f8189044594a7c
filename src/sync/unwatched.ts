// A watched table without triggers may be one that a restore has just made anew, and that fills: nobody loses anything by
// what is seen of it.
import type { LedgerRecord } from '../ledger/record.ts'
import { RollcallError } from '../model/errors.ts'
import type { Mapped } from '../model/mapped.ts'
import { mayHaveAccess } from './plan.ts'

/** Names the watched tables that do not carry our triggers now. */
export type Unwatched = () => Promise<readonly string[]>

/** Whether what the mapping makes of the customer would take access from a user, or erase one. */
export function seemsLost(mapped: Mapped, record: LedgerRecord): boolean {
  if (mapped.kind === 'removed') return true
  const without = mapped.kind === 'out-of-scope' || (mapped.kind === 'user' && mapped.user.status === 0)
  return without && record.remote !== 'absent' && mayHaveAccess(record)
}

/**
 * What holds of the customer once every table is known to be watched: by a second look, since the first one may have been
 * at a table that has its triggers only since.
 *
 * @throws RollcallError CUSTOMERS_UNREADABLE where one is not
 */
export async function lookedAtAgain<T>(unwatched: Unwatched, look: () => Promise<T>): Promise<T> {
  const tables = await unwatched()
  if (tables.length === 0) return await look()
  throw new RollcallError('CUSTOMERS_UNREADABLE', [
    `customers: ${tables.join(', ')} without the triggers of \`rollcall capture install\`: nobody is taken for removed, and nobody loses access, until they are there`,
  ])
}
