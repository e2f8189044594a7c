// A watched table without triggers may be one that a restore has just made anew, and that fills: no customer loses anything by
// what is seen of it.
import { RollcallError } from '../model/errors.ts'
import type { Mapped } from '../model/mapped.ts'

/** Names the watched tables that do not carry our triggers now. */
export type Unwatched = () => Promise<readonly string[]>

/** Whether by what is seen of it the customer has no access, whatever is remembered: the service may know better. */
export function seemsLost(mapped: Mapped): boolean {
  return (
    mapped.kind === 'removed' ||
    mapped.kind === 'out-of-scope' ||
    (mapped.kind === 'user' && mapped.user.status === 0)
  )
}

/**
 * Reads the customer once every table is known to be watched: a second time, since the first one may have been
 * at a table that has its triggers only since.
 *
 * @throws RollcallError TABLES_UNWATCHED where one is not
 */
export async function lookedAtAgain<T>(unwatched: Unwatched, look: () => Promise<T>): Promise<T> {
  const tables = await unwatched()
  if (tables.length === 0) return await look()
  throw new RollcallError('TABLES_UNWATCHED', [
    `${tables.join(', ')} without the triggers of \`rollcall capture install\``,
  ])
}
