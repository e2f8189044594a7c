// What a look leaves in the ledger: that it was made, that all agreed, and what is remembered of the user.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import type { Learnt } from '../sync/learnt.ts'
import { toRecord } from '../sync/memory.ts'
import { wasThere } from '../sync/there.ts'
import { memoryAfter, type Sight, type Subject } from './compare.ts'

export type Sighted = { readonly sight: Sight | null }

/** `record`: what replaces what was remembered; null where that stays. */
export type Recorded = {
  readonly key: CustomerKey
  readonly verified: boolean
  readonly record: ReturnType<typeof toRecord> | null
  readonly learnt: Learnt
}

type Recording = Sighted & {
  readonly subject: Subject
  readonly agrees: boolean
  readonly learnt?: Learnt
}

/**
 * What a GET showed replaces what is remembered once it agrees, or once the difference is found: then the plan writes
 * what differs. After a first look it does not, since the service may have lagged. Of somebody who was erased no digest
 * is kept; that record is a claim's to write. Nor is an absence taken down, or a loss of access that we did not cause: it is
 * a claim that believes them, and lets the brake count what it writes because of them.
 */
export function recordOf({ subject, sight, agrees, learnt = {} }: Recording): Recorded {
  const { key, work, mapped, digestKey } = subject
  const base = { key, verified: agrees, record: null, learnt }
  if (sight === null || sight === 'unreadable' || work.record.erased !== null) return base
  if (sight === 'absent' && !agrees) return base
  const record = { ...work.record, normalised: { ...work.record.normalised, ...learnt } }
  const memory = memoryAfter({ ...subject, work: { ...work, record } }, sight)
  const userId = userIdOf(mapped) ?? record.userId
  const there = sight !== 'absent' || (wasThere(record) && record.userId === userId)
  const { state, reason, issues } = record
  const kept = { userId, state, reason, issues, wasThere: there && !(agrees && sight === 'absent') }
  const lost = !agrees && memory.seenStatus === 0
  const status = lost ? { sentStatus: record.sentStatus, seenStatus: record.seenStatus } : {}
  return { ...base, record: { ...toRecord(memory, digestKey, kept), ...status } }
}

const WRITE = `
UPDATE rollcall.ledger l SET looked_at = now(),
  verified_at = CASE WHEN e.verified THEN now() ELSE l.verified_at END,
  proved_at = CASE WHEN e.verified AND (l.proved_at IS NULL OR l.proved_at < l.changed_at) THEN now() ELSE l.proved_at END,
  normalised = l.normalised || e.learnt,
  user_id = CASE WHEN e.known THEN e.record->>'userId' ELSE l.user_id END,
  remote = CASE WHEN e.known THEN e.record->>'remote' ELSE l.remote END,
  was_there = CASE WHEN e.known THEN (e.record->>'wasThere')::boolean ELSE l.was_there END,
  sent_status = CASE WHEN e.known THEN (e.record->>'sentStatus')::smallint ELSE l.sent_status END,
  seen_status = CASE WHEN e.known THEN (e.record->>'seenStatus')::smallint ELSE l.seen_status END,
  sent = CASE WHEN e.known THEN e.record->'sent' ELSE l.sent END,
  seen = CASE WHEN e.known THEN e.record->'seen' ELSE l.seen END,
  refused = CASE WHEN e.known THEN e.record->'refused' ELSE l.refused END,
  conflict = CASE WHEN e.known THEN nullif(e.record->'conflict', 'null') ELSE l.conflict END,
  digest_key = CASE WHEN e.known THEN e.record->>'digestKey' ELSE l.digest_key END
FROM (SELECT key, verified, learnt, record, coalesce(jsonb_typeof(record) = 'object', false) AS known
  FROM jsonb_to_recordset($1::jsonb) AS r (key text, verified boolean, learnt jsonb, record jsonb)) e
WHERE l.key = e.key COLLATE "C"`

export async function writeRecords(
  client: Pick<ClientBase, 'query'>,
  records: readonly Recorded[],
): Promise<void> {
  if (records.length > 0) await client.query(WRITE, [JSON.stringify(records)])
}
