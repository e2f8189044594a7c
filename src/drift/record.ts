// What a look leaves in the ledger: that it was made, that all agreed, and what is remembered of the user.
import type { ClientBase } from 'pg'
import { MEMORY_COLUMNS } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import { toRecord } from '../sync/memory.ts'
import { planAfter, type Snapshot } from '../sync/snapshot.ts'
import type { Compared, Sight } from './compare.ts'
import { isMute } from './evidence.ts'
import { type CheckResult, isFound, type StoredFinding } from './findings.ts'
import type { DriftKind } from './words.ts'

/** As the ledger has it: what the look said of the customer, and with `absent` and `gone` of the service. */
type SeenVerdict = 'agrees' | 'absent' | 'gone' | DriftKind

/** `record`: what replaces what was remembered; null where that stays. */
type Recorded = {
  readonly key: CustomerKey
  readonly verdict: SeenVerdict
  readonly agrees: boolean
  /** Not to confirm what an earlier look had shown. */
  readonly first: boolean
  readonly record: ReturnType<typeof toRecord> | null
}

type Recording = {
  readonly subject: Snapshot
  readonly looked: CheckResult
  readonly sight: Sight | null
  readonly open: StoredFinding | null
}

/**
 * What agrees refreshes what is remembered. What differs changes nothing of it: the claim that repairs looks for itself, and
 * lets the brake count what it writes; and the daily check of capture, which plans by what is remembered, must not repair
 * what is only to be reported. Of somebody who was erased no digest is kept; that record is a claim's to write.
 */
export function recordOf({ subject, looked, sight, open }: Recording): Recorded {
  const { key, work, mapped, digestKey } = subject
  const compared: Compared = looked.kind === 'seen' ? looked.compared : { kind: 'agrees' }
  const agrees = compared.kind === 'agrees'
  const base = {
    key,
    verdict: verdictOf(compared),
    agrees,
    first: open === null || isFound(open),
    record: null,
  }
  if (!base.agrees || sight === null || sight === 'unreadable' || work.record.erased !== null) return base
  const { memory } = planAfter(subject, sight)
  const { state, reason, issues, userId } = work.record
  const kept = { userId: userIdOf(mapped) ?? userId, state, reason, issues, wasThere: sight !== 'absent' }
  return { ...base, record: toRecord(memory, digestKey, kept) }
}

function verdictOf(compared: Compared): SeenVerdict {
  if (isMute(compared)) return 'absent'
  return compared.kind === 'agrees' && compared.nobody === 'gone' ? 'gone' : compared.kind
}

const WRITE = `
UPDATE rollcall.ledger l SET verdict = e.verdict,
  looked_at = CASE WHEN e.first THEN now() ELSE coalesce(l.looked_at, now()) END,
  verified_at = CASE WHEN e.verified THEN now() ELSE l.verified_at END,
  proved_at = CASE WHEN e.verified AND (l.proved_at IS NULL OR l.proved_at < l.changed_at) THEN now() ELSE l.proved_at END,
  ${MEMORY_COLUMNS.set('r', 'e.known')}
FROM (SELECT key, verdict, first, agrees AS verified, record, coalesce(jsonb_typeof(record) = 'object', false) AS known
  FROM jsonb_to_recordset($1::jsonb) AS e (key text, verdict text, agrees boolean, first boolean, record jsonb)) e,
  LATERAL jsonb_to_record(CASE WHEN e.known THEN e.record ELSE '{}' END) AS r (${MEMORY_COLUMNS.defined})
WHERE l.key = e.key COLLATE "C"`

export async function writeRecords(
  client: Pick<ClientBase, 'query'>,
  records: readonly Recorded[],
): Promise<void> {
  if (records.length > 0) await client.query(WRITE, [JSON.stringify(records)])
}

/** Of whom nothing is asked nothing can be told: they are no witnesses. */
export async function writeMute(
  client: Pick<ClientBase, 'query'>,
  keys: readonly CustomerKey[],
): Promise<void> {
  if (keys.length > 0)
    await client.query(
      `UPDATE rollcall.ledger SET verdict = 'absent' WHERE key = ANY($1) AND verdict IS DISTINCT FROM 'absent'`,
      [keys],
    )
}
