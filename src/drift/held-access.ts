// Whether customers that the brake holds have wrong access at the service meanwhile, as far as is known without a call.
import { TAKES_ACCESS } from '../brake/brake.ts'
import type { Client } from '../database/client.ts'
import { OPEN_RELEASE } from '../ledger/decided.ts'
import type { Reason } from '../ledger/reason.ts'
import { entitled, STATUSES } from '../model/user.ts'
import type { Memory } from '../sync/memory.ts'
import { accessAfter } from '../sync/plan.ts'
import { planNow, type Snapshot } from '../sync/snapshot.ts'
import { CONFIRMED, type DriftTally, type WrongAccess } from './words.ts'

type Remembered = Pick<Memory, 'remote' | 'sentStatus' | 'seenStatus'>
type HeldFor = Pick<Reason, 'kinds' | 'entitles'>

/** By what a release would send. */
export function heldAccess(snapshot: Snapshot): WrongAccess | null {
  const { plan, memory } = planNow(snapshot)
  const reason: HeldFor = snapshot.work.record.reason ?? {}
  // Checks have shown the access of a customer whose repair waits: what is remembered of the user does not hold.
  if (reason.kinds?.includes('repair'))
    return reason.entitles === undefined ? null : reason.entitles ? 'lost' : 'undue'
  const wanted = plan.kind === 'lookup' ? wantedWhenHeld(reason) : accessAfter(plan)
  return accessWhileHeld(wanted, thereWhenHeld(reason, memory))
}

/** Nothing is said of what is not known: a customer who was never asked about, or a call whose outcome is unknown. */
export function accessWhileHeld(wanted: boolean | null, remembered: Remembered): WrongAccess | null {
  const has = hasAccess(remembered)
  if (wanted === null || has === null || wanted === has) return null
  return wanted ? 'lost' : 'undue'
}

/** A user who is held for its absence was not there when a claim asked, whatever is to be asked again. */
export function thereWhenHeld({ kinds = [] }: HeldFor, remembered: Remembered): Remembered {
  return kinds.includes('absence') ? { ...remembered, remote: 'absent' } : remembered
}

/** A status that the interface does not have says nothing of access. */
function hasAccess({ remote, sentStatus, seenStatus }: Remembered): boolean | null {
  if (remote === 'absent') return false
  const status = STATUSES.find((each) => each === (seenStatus ?? sentStatus))
  return remote === 'present' && status !== undefined ? entitled(status) : null
}

/**
 * Whether the customer is to have access, by the record alone: what was noted as it was held, or what the kinds tell. A
 * change of status to 0 is a kind of its own.
 */
export function wantedWhenHeld({ kinds = [], entitles }: HeldFor): boolean | null {
  if (entitles !== undefined) return entitles
  if (TAKES_ACCESS.some((kind) => kinds.includes(kind))) return false
  return kinds.includes('status') ? true : null
}

/** In groups, so that a mass takes no more than a few. A customer with a finding about access counts by that. */
const HELD = `
SELECT l.reason, CASE WHEN o.unknown THEN 'unknown' ELSE l.remote END AS remote,
  CASE WHEN o.status_unknown THEN NULL ELSE l.sent_status END AS "sentStatus",
  CASE WHEN o.status_unknown THEN NULL ELSE l.seen_status END AS "seenStatus", count(*)::float8 AS count
FROM (SELECT key, remote, sent_status, seen_status, jsonb_strip_nulls(
    jsonb_build_object('kinds', reason->'kinds', 'entitles', reason->'entitles')) AS reason
  FROM rollcall.ledger l WHERE state = 'held' AND NOT ${OPEN_RELEASE}) l
LEFT JOIN rollcall.owed o USING (key)
WHERE NOT EXISTS (SELECT FROM rollcall.finding f WHERE f.key = l.key AND f.access IS NOT NULL AND ${CONFIRMED})
GROUP BY 1, 2, 3, 4`

type HeldGroup = Remembered & { readonly reason: HeldFor; readonly count: number }

export async function readHeldAccess(client: Client): Promise<DriftTally['heldAccess']> {
  const { rows } = await client.query<HeldGroup>(HELD)
  const counts: Partial<Record<WrongAccess, number>> = {}
  for (const { reason, count, ...remembered } of rows) {
    const access = accessWhileHeld(wantedWhenHeld(reason), thereWhenHeld(reason, remembered))
    if (access !== null) counts[access] = (counts[access] ?? 0) + count
  }
  return counts
}
