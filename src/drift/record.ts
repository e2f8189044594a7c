// What a check leaves in the ledger: that it was made, that all agreed, and what is remembered of the user.
import type { Client } from '../database/client.ts'
import { MEMORY_COLUMNS } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import { toRecord } from '../sync/memory.ts'
import { planAfter, type Snapshot } from '../sync/snapshot.ts'
import type { Sight } from './compare.ts'
import type { CheckResult } from './findings.ts'

/** `record`: what replaces what was remembered; null where that stays. */
type Recorded = {
  readonly key: CustomerKey
  readonly agrees: boolean
  readonly record: ReturnType<typeof toRecord> | null
}

type Recording = { readonly subject: Snapshot; readonly looked: CheckResult; readonly sight: Sight | null }

/**
 * A difference changes nothing of what is remembered: the claim that repairs looks for itself and lets the brake count
 * what it writes, and the daily check of capture must not repair what is only to be reported. The record of an erased
 * customer, of whom no digest is kept, is a claim's to write.
 */
export function recordOf({ subject, looked, sight }: Recording): Recorded {
  const { key, work, mapped, digestKey } = subject
  const agrees = looked.kind === 'seen' && looked.compared.kind === 'agrees'
  if (!agrees || sight === null || sight === 'unreadable' || work.record.erased !== null)
    return { key, agrees, record: null }
  const { state, reason, issues, userId } = work.record
  const kept = { userId: userIdOf(mapped) ?? userId, state, reason, issues, wasThere: sight !== 'absent' }
  return { key, agrees, record: toRecord(planAfter(subject, sight).memory, digestKey, kept) }
}

const WRITE = `
UPDATE rollcall.ledger l SET looked_at = now(),
  verified_at = CASE WHEN e.verified THEN now() ELSE l.verified_at END,
  proved_at = CASE WHEN e.verified AND (l.proved_at IS NULL OR l.proved_at < l.changed_at) THEN now() ELSE l.proved_at END,
  ${MEMORY_COLUMNS.set('r', 'e.known')}
FROM (SELECT key, agrees AS verified, record, coalesce(jsonb_typeof(record) = 'object', false) AS known
  FROM jsonb_to_recordset($1::jsonb) AS e (key text, agrees boolean, record jsonb)) e,
  LATERAL jsonb_to_record(CASE WHEN e.known THEN e.record ELSE '{}' END) AS r (${MEMORY_COLUMNS.defined})
WHERE l.key = e.key COLLATE "C"`

export async function writeRecords(client: Client, records: readonly Recorded[]): Promise<void> {
  if (records.length > 0) await client.query(WRITE, [JSON.stringify(records)])
}
