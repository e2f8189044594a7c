// Whether checks may be made now, and how many: the mapping is applied, no change waits, and the pace that all calls share
// leaves a part to them.
import type { Pool } from 'pg'
import { oneRow } from '../database/client.ts'
import { type BoundTo, isCurrent } from '../ledger/target.ts'
import { LANE } from '../model/customer.ts'
import type { Pace } from '../pace/open.ts'

export type Preconditions = {
  /** Calls per second that may be made now; 0 while calls are held off or stopped. */
  readonly rate: number
  /** A change, a removal or a repair has waited for longer than dispatch takes. */
  readonly liveWaits: boolean
  readonly unsettled: Unsettled | null
}

/**
 * Why a difference may be about to be owed, so that it is no drift. `mapping`: another mapping or target is active.
 * `unswept`: not all customers who differ under the active mapping are noted. `gap`: changes may be missing, and a resync
 * of all customers is to come.
 */
export type Unsettled = 'mapping' | 'unswept' | 'gap'

/** A customer that is due is taken within a fraction of this, unless dispatch is behind. */
const BEHIND = `clock_timestamp() - interval '1 second'`

const PRECONDITIONS = `
SELECT EXISTS (SELECT FROM rollcall.owed WHERE lane = ANY($1) AND due_at < ${BEHIND})
    OR coalesce((SELECT at FROM rollcall.outbox ORDER BY id LIMIT 1) < ${BEHIND}, false) AS "liveWaits",
  CASE WHEN NOT coalesce(${isCurrent({ binding: '$3', fingerprint: '$2' })}, false) THEN 'mapping'
    WHEN NOT coalesce((SELECT swept_at IS NOT NULL FROM rollcall.generation ORDER BY id DESC LIMIT 1), false) THEN 'unswept'
    WHEN EXISTS (SELECT FROM rollcall.capture_mark
      WHERE resynced_at IS NULL AND (kind = 'overflow' OR resolved_at IS NOT NULL)) THEN 'gap' END AS unsettled`

const LIVE = [LANE.deletion, LANE.change, LANE.repair]

type Asked = BoundTo & { readonly pace: Pick<Pace, 'rate'> }

export async function readPreconditions(pool: Pool, { fingerprint, binding, pace }: Asked) {
  const values = [LIVE, fingerprint, binding]
  const read = await oneRow<Omit<Preconditions, 'rate'>>(pool, PRECONDITIONS, values)
  return { ...read, rate: await pace.rate() }
}

/** Owed syncs go first in any case; workers leave most of the pace to them, and a run that a person waits for half. */
export const SHARE = { schedule: 0.25, run: 0.5 }

/** More in one go would be read long before they are checked, and held long by one transaction. */
export const MOST_AT_ONCE = 200

/** Calls are gathered for no longer than this, so that they come evenly and not in bursts. */
const GATHERED_S = 0.5

/** Calls that may be made by now; a part of one is kept for later. `now`: monotonic milliseconds. */
export function makeAllowance(now: () => number) {
  let left = 1
  let at = now()

  return {
    /** How many may be made in one go, at so many a second since the last refill. */
    refill(speed: number): number {
      const since = at
      at = now()
      const gathered = (speed * Math.max(0, at - since)) / 1000
      left = Math.min(Math.max(1, speed * GATHERED_S), left + gathered)
      return Math.min(MOST_AT_ONCE, Math.floor(left))
    },
    spend(calls: number): void {
      left -= calls
    },
  }
}
