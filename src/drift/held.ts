// Whether customers whom the brake holds have wrong access at the service meanwhile, as far as that is known without a call.
import type { ClientBase } from 'pg'
import { TAKES_ACCESS } from '../brake/brake.ts'
import type { Reason, RemoteState } from '../ledger/record.ts'
import { OPEN_RELEASE } from '../ledger/released.ts'
import { entitled, STATUSES } from '../model/user.ts'
import type { Memory } from '../sync/memory.ts'
import { TOLD } from './verifiable.ts'
import type { WrongAccess } from './words.ts'

/** What is remembered of the user. */
type There = Pick<Memory, 'remote' | 'sentStatus' | 'seenStatus'>

/**
 * Nobody looks at them, and that what the database wants is not at the service is what they are held for: where that is
 * about access they are shut out, or let in, as much as anybody whom a look has found. What is not known is not told:
 * somebody whom nobody has asked about, or a call whose outcome is unknown.
 */
export function accessWhileHeld(wanted: boolean | null, there: There): WrongAccess | null {
  const has = hasAccess(there)
  if (wanted === null || has === null || wanted === has) return null
  return wanted ? 'lost' : 'undue'
}

/** Whoever is held for its absence was asked for by a claim that was told so, whatever is to be asked again. */
export function thereWhenHeld({ kinds = [] }: Pick<Reason, 'kinds'>, there: There): There {
  return kinds.includes('absence') ? { ...there, remote: 'absent' } : there
}

/** A status that the interface does not have says nothing of access. */
function hasAccess({ remote, sentStatus, seenStatus }: There): boolean | null {
  if (remote === 'absent') return false
  const status = seenStatus ?? sentStatus
  const said = remote === 'present' && STATUSES.some((each) => each === status)
  return said && status !== null ? entitled(status) : null
}

/** Of somebody whose repair waits: looks have shown the access, and what is remembered of the user does not hold. */
export function wrongWhenFound({ entitles }: Pick<Reason, 'entitles'>): WrongAccess | null {
  if (entitles === undefined) return null
  return entitles ? 'lost' : 'undue'
}

/**
 * Whether the customer is to have access, by the record alone, for whoever reads no customer: what was noted as it was
 * held, or what the kinds tell. A change of status to 0 is a kind of its own.
 */
export function wantedWhenHeld({ kinds = [], entitles }: Pick<Reason, 'kinds' | 'entitles'>): boolean | null {
  if (entitles !== undefined) return entitles
  if (TAKES_ACCESS.some((kind) => kinds.includes(kind))) return false
  return kinds.includes('status') ? true : null
}

/** In groups, so that it takes as little of a mass as of a few; whoever a finding tells of counts by that. */
const HELD = `
SELECT l.reason, CASE WHEN o.unknown THEN 'unknown' ELSE l.remote END AS remote,
  CASE WHEN o.status_doubted THEN NULL ELSE l.sent_status END AS "sentStatus",
  CASE WHEN o.status_doubted THEN NULL ELSE l.seen_status END AS "seenStatus", count(*)::float8 AS count
FROM (SELECT key, remote, sent_status, seen_status,
    jsonb_build_object('kinds', coalesce(reason->'kinds', '[]'), 'entitles', reason->'entitles') AS reason
  FROM rollcall.ledger l WHERE state = 'held' AND NOT ${OPEN_RELEASE}) l
LEFT JOIN rollcall.owed o USING (key)
WHERE NOT EXISTS (SELECT FROM rollcall.finding f WHERE f.key = l.key AND f.access IS NOT NULL AND ${TOLD})
GROUP BY 1, 2, 3, 4`

type Row = {
  readonly reason: { readonly kinds: readonly string[]; readonly entitles: boolean | null }
  readonly remote: RemoteState
  readonly sentStatus: number | null
  readonly seenStatus: number | null
  readonly count: number
}

export type HeldAccess = Readonly<Partial<Record<WrongAccess, number>>>

/** Of what is desired the ledger has a digest alone: what was noted as somebody was held tells which way it goes. */
export async function readHeldAccess(client: Pick<ClientBase, 'query'>): Promise<HeldAccess> {
  const { rows } = await client.query<Row>(HELD)
  const counts: Partial<Record<WrongAccess, number>> = {}
  for (const { reason, count, ...there } of rows) {
    const access = accessWhileHeld(wantedWhenHeld(reasonOf(reason)), thereWhenHeld(reason, there))
    if (access !== null) counts[access] = (counts[access] ?? 0) + count
  }
  return counts
}

function reasonOf({ kinds, entitles }: Row['reason']): Pick<Reason, 'kinds' | 'entitles'> {
  return entitles === null ? { kinds } : { kinds, entitles }
}
