// Stores what checks have shown: in one transaction, and only of customers for which nothing has moved since they were read.
import type { ClientBase, Pool } from 'pg'
import { retried, UNIQUE_VIOLATION } from '../database/batch.ts'
import { inTransaction, LOCK_NOT_AVAILABLE } from '../database/transaction.ts'
import { endChecks } from '../ledger/check.ts'
import { listParts, RECORD_PARTS } from '../ledger/record.ts'
import { userIdOf } from '../sync/map.ts'
import { toRecord } from '../sync/memory.ts'
import { planAfter, type Snapshot } from '../sync/snapshot.ts'
import { afterStep, type FindingAfter, NO_FINDING, type StepOptions } from './after-step.ts'
import { type Observed, ownFormsOf, shownOf } from './compare.ts'
import { isNotCredible, isStrange, readEvidence } from './evidence.ts'
import { forgetFindings, lockOpen, type OpenFinding, writeFindings } from './open-findings.ts'
import { type FindingStep, stepFor } from './step.ts'
import { type Checked, type CheckVerdict, isDrift } from './words.ts'

/** A customer after its check. `snapshot` as it was read before the call. */
export type UnstoredCheck = {
  readonly snapshot: Snapshot
  readonly verdict: CheckVerdict
  /** Null: no GET, or none with a clear answer, or one that does not count. */
  readonly observed: Observed | null
  readonly token: string | null
}

export type StoredCheck = Omit<Checked, 'repairing'>

type StoreOptions = StepOptions & { readonly fingerprint: string }

/** A sync that is under way holds its row for a moment only. */
const LOCK_MS = 2000

/** If another transaction holds one of the rows for too long, or writes the same finding, the result of the batch is dropped. */
export async function storeChecks(pool: Pool, given: readonly UnstoredCheck[], options: StoreOptions) {
  try {
    return await retried(() => inTransaction(pool, LOCK_MS, (client) => store(client, given, options)))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== LOCK_NOT_AVAILABLE && code !== UNIQUE_VIOLATION) throw error
    return given.map((each) => storedOf(overtaken(each), NO_FINDING))
  }
}

/** A change came while the GET was under way, so that nothing can be said. */
function overtaken(given: UnstoredCheck): UnstoredCheck {
  return given.observed === null
    ? given
    : { ...given, verdict: { kind: 'skipped', why: 'changed' }, observed: null }
}

type Stepped = UnstoredCheck & { readonly open: OpenFinding | null; readonly step: FindingStep }

async function store(client: ClientBase, given: readonly UnstoredCheck[], options: StoreOptions) {
  const checks = given.flatMap(({ snapshot: { key }, token }) => (token === null ? [] : [{ key, token }]))
  const still = await endChecks(client, checks, options.fingerprint)
  const keys = given.map(({ snapshot }) => snapshot.key)
  const opens = await lockOpen(client, keys)
  const stepped = given.map((each): Stepped => {
    const { key, desiredDigest } = each.snapshot
    const checked = still.has(key) ? each : overtaken(each)
    const { snapshot, verdict, observed } = checked
    const open = opens.get(key) ?? null
    const ownForms = observed === null ? [] : ownFormsOf(snapshot, observed)
    return { ...checked, open, step: stepFor(open, { verdict, ownForms, desiredDigest }, options) }
  })
  const records = stepped.filter(({ observed }) => observed !== null).map(recordOf)
  if (records.length > 0) await client.query(WRITE, [JSON.stringify(records)])
  // in the example: null, since only a user that is missing or unreadable is strange
  const evidence = stepped.some(isConfirmedStrange) ? await readEvidence(client) : null
  const isCredible = evidence !== null && !isNotCredible(evidence)
  const decided = stepped.map((each) => {
    // Confirmed only once a sample since it was suspected lets the service count as credible.
    const isUnconfirmed = isConfirmedStrange(each) && !(isCredible && each.open?.sampled)
    const step: FindingStep = isUnconfirmed ? { do: 'not-credible' } : each.step
    return { ...each, step, ...afterStep(step, each, options) }
  })
  const forgotten = decided.flatMap(({ step, open }) => (step.do === 'forget' && open ? open.id : []))
  await forgetFindings(client, forgotten)
  const written = decided.flatMap(({ rows }) => rows)
  const made = await writeFindings(client, written)
  return decided.map((each) => {
    const findingId = made.get(each.snapshot.key) ?? each.after.findingId
    return storedOf(each, { ...each.after, findingId })
  })
}

function isConfirmedStrange({ step }: Stepped): boolean {
  return (step.do === 'confirm' || step.do === 'keep') && isStrange(step.drift)
}

function storedOf({ snapshot, observed, ...check }: UnstoredCheck, after: FindingAfter): StoredCheck {
  const { kept, ...finding } = after
  const verdict = kept ?? check.verdict
  const shown = isDrift(verdict) && observed !== null ? shownOf(snapshot, observed, verdict) : []
  return { ...finding, key: snapshot.key, verdict, shown }
}

/**
 * `record`: what replaces what was remembered; null where that stays. A difference changes nothing of what is
 * remembered: the claim that repairs makes its own lookup, and the brake counts its writes. The daily check of
 * capture must not repair a difference that is only to be reported. The record of an erased customer, about which no
 * digest is kept, is a claim's to write.
 */
function recordOf({ snapshot, verdict, observed }: UnstoredCheck) {
  const { key, work, mapped, digests } = snapshot
  const agrees = verdict.kind === 'agrees'
  if (!agrees || observed === null || observed === 'unreadable' || work.record.erased !== null)
    return { key, agrees, record: null }
  const { state, reason, discard, issues, userId } = work.record
  const own = { userId: userIdOf(mapped) ?? userId, state, reason, discard, issues }
  const rest = { ...own, existed: observed !== 'absent' }
  return { key, agrees, record: toRecord(planAfter(snapshot, observed).memory, digests.keyId, rest) }
}

/** A claim writes the rest of a record too. */
const CHECKED = [
  'userId',
  'remote',
  'existed',
  'sentStatus',
  'seenStatus',
  'sent',
  'seen',
  'refused',
  'conflict',
  'digestKeyId',
] as const

const WRITE = `
UPDATE rollcall.ledger l SET checked_at = now(),
  verified_at = CASE WHEN e.verified THEN now() ELSE l.verified_at END,
  proved_at = CASE WHEN e.verified AND (l.proved_at IS NULL OR l.proved_at < l.changed_at) THEN now() ELSE l.proved_at END,
  ${listParts((name, column) => `${column} = CASE WHEN e.known THEN r."${name}" ELSE l.${column} END`, CHECKED)}
FROM (SELECT key, agrees AS verified, record, coalesce(jsonb_typeof(record) = 'object', false) AS known
  FROM jsonb_to_recordset($1::jsonb) AS e (key text, agrees boolean, record jsonb)) e,
  LATERAL jsonb_to_record(CASE WHEN e.known THEN e.record ELSE '{}' END) AS r (${RECORD_PARTS})
WHERE l.key = e.key COLLATE "C"`
