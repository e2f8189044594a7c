// How many of those whom the brake holds have wrong access, by the records alone.
import type { ClientBase } from 'pg'
import type { Reason, RemoteState } from '../ledger/record.ts'
import { OPEN_RELEASE } from '../ledger/released.ts'
import { accessWhileHeld, thereWhenHeld, wantedWhenHeld } from './held-access.ts'
import { TOLD } from './verifiable.ts'
import type { WrongAccess } from './words.ts'

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
