import type { Pool } from 'pg'
import type { Witness } from '../dispatch/queue.ts'
import { leap, type Mark, markOf, readPlace } from '../ledger/mark.ts'
import { type Difference, targetChanged } from '../ledger/target-changed.ts'
import type { RollcallError } from '../model/errors.ts'

/** A disk snapshot that was put back carries the binding, too, and shows nothing of it inside. */
const BEHIND: Difference = {
  kind: 'behind',
  says: 'the database went back in time: leases that workers have used are missing in it',
}

export type Witnessing = {
  /** A lease with this token was claimed, and the claim is committed. */
  claimed(token: string): void
  /** Keeps what was claimed; resolves to an error where the database has not come so far. */
  step(): Promise<RollcallError | null>
}

/**
 * The witness remembers how far the database had come. Without one (null) this process still notices what happens while
 * it runs.
 *
 * @throws RollcallError TARGET_CHANGED where the witness remembers more than the database
 */
export async function startWitness(pool: Pool, witness: Witness | null): Promise<Witnessing> {
  // The witness first: other workers go on meanwhile, and the database is always ahead of what is kept.
  const found = (await witness?.read()) ?? ''
  const { boundAt, mark: present } = await readPlace(pool)
  if (present < found) throw targetChanged([BEHIND])
  let highest = markOf(boundAt, '0')
  const raise = (mark: Mark) => {
    if (mark > highest) highest = mark
  }
  raise(found)
  let kept = highest

  return {
    claimed: (token) => raise(markOf(boundAt, token)),
    async step() {
      const { mark: present } = await readPlace(pool)
      const isBehind = present < highest
      if (highest !== kept) {
        if (!isBehind) raise(markOf(boundAt, await leap(pool)))
        kept = highest
        // Also where this process ends because of it: the next one has to know.
        await witness?.keep(kept)
      }
      return isBehind ? targetChanged([BEHIND]) : null
    },
  }
}
