import type { Pool } from 'pg'
import type { Witness } from '../dispatch/queue.ts'
import { targetChanged, voidBinding } from '../ledger/target.ts'
import { leap, readPlace, type Watermark, watermarkOf } from '../ledger/watermark.ts'
import type { RollcallError } from '../model/errors.ts'

/**
 * The witness remembers how far the database had come. Without one (null) this process still notices what happens while
 * it runs.
 *
 * @throws RollcallError TARGET_CHANGED where the witness remembers more than the database
 */
export async function startWitness(pool: Pool, witness: Witness | null) {
  // The witness first: other workers go on meanwhile, and the database is always ahead of what is kept.
  const found = (await witness?.read()) ?? ''
  const { boundAt, watermark: present } = await readPlace(pool)
  if (present < found) throw await isBehind(pool, boundAt)
  let highest = watermarkOf(boundAt, '0')
  const raise = (watermark: Watermark) => {
    if (watermark > highest) highest = watermark
  }
  raise(found)
  let kept = highest
  /** Nothing was claimed since the leap: while work goes on, its own tokens lead away from every earlier state. */
  let isAhead = true

  return {
    /** A lease with this token was claimed, and the claim is committed. */
    claimed: (token: string) => raise(watermarkOf(boundAt, token)),
    /** Keeps what was claimed; resolves to an error where the database has not come so far. */
    async step(): Promise<RollcallError | null> {
      // Before the database is asked: what is claimed while it answers is not in its answer.
      const watermark = highest
      const place = await readPlace(pool)
      if (place.watermark < watermark) return await isBehind(pool, place.boundAt)
      const isIdle = watermark === kept
      if (isIdle && isAhead) return null
      const next = isIdle ? watermarkOf(boundAt, await leap(pool)) : watermark
      raise(next)
      await witness?.keep(next)
      // Only now: what could not be kept is tried again.
      kept = next
      isAhead = isIdle
      return null
    },
  }
}

/** Written into the database: the witness may be gone by the next start, and commands do not ask it. */
async function isBehind(pool: Pool, boundAt: string): Promise<RollcallError> {
  await voidBinding(pool, boundAt)
  // A disk snapshot that was put back carries the binding, too, and shows nothing of it inside.
  const says = 'the database went back in time: it lacks entries that workers have written'
  return targetChanged([{ kind: 'behind', says }])
}
