// Stores what checks have shown: in one transaction, and only of customers for whom nothing has moved since they were read.
import type { ClientBase, Pool } from 'pg'
import { retried, UNIQUE_VIOLATION } from '../database/batch.ts'
import { inTransaction, LOCK_NOT_AVAILABLE } from '../database/transaction.ts'
import { endChecks } from '../ledger/check.ts'
import { MEMORY_COLUMNS } from '../ledger/record.ts'
import { userIdOf } from '../model/mapped.ts'
import { toRecord } from '../sync/memory.ts'
import { planAfter, type Snapshot } from '../sync/snapshot.ts'
import { type Sight, shownOf } from './compare.ts'
import { isDoubted, isStrange, readEvidence } from './evidence.ts'
import {
  type CheckResult,
  type FindingStep,
  isFound,
  type Lag,
  MOST_REPAIRS,
  postponedMs,
  stepFor,
} from './findings.ts'
import { type FindingRow, forgetFindings, lockOpen, type OpenFinding, writeFindings } from './found.ts'
import { heldAccess } from './held.ts'
import {
  type CheckVerdict,
  type DriftVerdict,
  isDrift,
  REPAIRABLE_KINDS,
  type Resolved,
  type Verified,
} from './words.ts'

/** A customer after its check. `subject` as it was read before the call. */
export type CheckedCustomer = {
  readonly subject: Snapshot
  readonly looked: CheckResult
  /** Null: the GET showed nothing. */
  readonly sight: Sight | null
  readonly token: string | null
}

/** `repairable`: a repair would help, and was not owed too often. */
export type StoredCheck = Omit<Verified, 'repairing'> & { readonly repairable: boolean }

/**
 * `told`: what is kept of the finding that goes on, which is what two checks have shown, with the cause of the first one:
 * afterwards the records hold what that showed, and tell another cause. Null: what this check has shown.
 */
type Outcome = Omit<StoredCheck, 'key' | 'verdict' | 'shown'> & { readonly told: DriftVerdict | null }

const NOTHING: Outcome = {
  ...{ findingState: null, findingId: null, resolved: null, lookAgainInMs: null, more: false },
  ...{ repairable: false, told: null },
}

type StoreOptions = Lag & {
  readonly fingerprint: string
  /** Workers repair what is found, and have to check for it. */
  readonly mendsLater: boolean
}

/** A sync that is under way holds its row for a moment only. */
const LOCK_MS = 2000

/** Where others are at the same customers, or hold their rows for too long, nothing is said of any of them. */
export async function storeLooks(
  pool: Pool,
  given: readonly CheckedCustomer[],
  options: StoreOptions,
): Promise<readonly StoredCheck[]> {
  try {
    return await retried(() => inTransaction(pool, LOCK_MS, (client) => store(client, given, options)))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== LOCK_NOT_AVAILABLE && code !== UNIQUE_VIOLATION) throw error
    return given.map((each) => storedOf(overtaken(each), NOTHING))
  }
}

/** A change came while the GET was under way, so that nothing can be said. */
function overtaken(given: CheckedCustomer): CheckedCustomer {
  return given.looked.kind === 'seen' ? { ...given, looked: { kind: 'left', why: 'moved' } } : given
}

type Stepped = CheckedCustomer & { readonly open: OpenFinding | null; readonly step: FindingStep }

async function store(
  client: ClientBase,
  given: readonly CheckedCustomer[],
  options: StoreOptions,
): Promise<readonly StoredCheck[]> {
  const checks = given.flatMap(({ subject: { key }, token }) => (token === null ? [] : [{ key, token }]))
  const still = await endChecks(client, checks, options.fingerprint)
  const keys = given.map(({ subject }) => subject.key)
  const opens = await lockOpen(client, keys)
  const stepped = given.map((each): Stepped => {
    const { key } = each.subject
    const checked = still.has(key) ? each : overtaken(each)
    const open = opens.get(key) ?? null
    return { ...checked, open, step: stepFor(open, checked.looked, options) }
  })
  const records = stepped.filter(({ looked }) => looked.kind === 'seen').map(recordOf)
  if (records.length > 0) await client.query(WRITE, [JSON.stringify(records)])
  const evidence = stepped.some(isConfirmedStrange) ? await readEvidence(client) : null
  const believed = evidence !== null && !isDoubted(evidence)
  const left = stepped.map((each) => {
    const doubted = isConfirmedStrange(each) && !(believed && each.open?.sampled)
    return { ...each, ...leave(doubted ? { ...each, step: { do: 'doubt' } } : each, options) }
  })
  const gone = left.flatMap(({ forget }) => forget ?? [])
  await forgetFindings(client, gone)
  const rows = left.flatMap(({ rows = [] }) => rows)
  const made = await writeFindings(client, rows)
  return left.map((each) => {
    const findingId = made.get(each.subject.key) ?? each.outcome.findingId
    return storedOf(each, { ...each.outcome, findingId })
  })
}

function isConfirmedStrange({ step }: Stepped): boolean {
  return (step.do === 'confirm' || step.do === 'keep') && isStrange(step.told)
}

function storedOf(
  { subject, looked, sight }: CheckedCustomer,
  { told, findingState, ...outcome }: Outcome,
): StoredCheck {
  const verdict = told ?? verdictOf(looked, subject)
  const shown = isDrift(verdict) && sight !== null ? shownOf(subject, sight, verdict) : []
  const state = isDrift(verdict) ? findingState : null
  return { ...outcome, key: subject.key, verdict, findingState: state, shown }
}

function verdictOf(looked: CheckResult, subject: Snapshot): CheckVerdict {
  if (looked.kind === 'seen') return looked.compared
  if (looked.kind === 'no-answer') return looked
  const { why } = looked
  return why === 'held' ? { kind: 'skipped', why, access: heldAccess(subject) } : { kind: 'skipped', why }
}

/** For workers; a run asks again a moment later. The service may say something else before long. */
const DOUBTED_MS = 600_000

type Leaving = { outcome: Outcome; forget?: string | null; rows?: readonly FindingRow[] }

function leave({ subject, looked, open, step }: Stepped, options: StoreOptions): Leaving {
  const { key, mapped, desired } = subject
  const id = open?.id ?? null
  const findingState = open && (isFound(open) ? 'found' : 'suspected')
  const outcome: Outcome = { ...NOTHING, findingId: id }
  const base = { id, key, userId: userIdOf(mapped), desired, seen: true, anew: false, how: null }
  const asIs = (nextInMs: number | null, how: Resolved | null = null): readonly FindingRow[] =>
    open ? [{ ...base, ...open, nextInMs, how, seen: false }] : []
  switch (step.do) {
    case 'nothing':
      return { outcome }
    case 'forget':
      return { outcome: NOTHING, forget: id }
    case 'wait': {
      const kept = looked.kind === 'seen' && open && (isFound(open) || open.kind === looked.compared.kind)
      const lookAgainInMs = open?.nextInMs ?? null
      return { outcome: { ...outcome, findingState, lookAgainInMs, told: kept ? verdictIn(open) : null } }
    }
    case 'doubt':
      return { outcome: { ...outcome, findingState: 'suspected' }, rows: asIs(DOUBTED_MS) }
    case 'postpone': {
      const lookAgainInMs = postponedMs(options)
      return { outcome: { ...outcome, findingState, lookAgainInMs }, rows: asIs(lookAgainInMs) }
    }
    case 'suspect': {
      const { ends: resolved, told } = step
      const nextInMs = options.consistencyDelayMs
      const row = { ...base, ...told, looks: 1, nextInMs, anew: true }
      return {
        outcome: { ...outcome, findingState: 'suspected', lookAgainInMs: nextInMs, resolved },
        rows: resolved === null ? [row] : [...asIs(null, resolved), { ...row, id: null }],
      }
    }
    case 'confirm':
    case 'keep': {
      const { told } = step
      const { looks = 1, fields = [], repairs: tried = 0 } = open ?? {}
      const repairs = fields.join() === told.fields.join() ? tried : 0
      const more = told.pending.length > 0
      const repairable = REPAIRABLE_KINDS.some((kind) => kind === told.kind) && repairs < MOST_REPAIRS
      const later = repairable && options.mendsLater ? postponedMs(options) : null
      const nextInMs = more ? options.consistencyDelayMs : later
      const found = { findingState: 'found', lookAgainInMs: nextInMs, more, repairable } as const
      return {
        outcome: { ...outcome, ...found, told: verdictIn(told) },
        rows: [{ ...base, ...told, looks: looks + 1, nextInMs }],
      }
    }
    case 'resolve':
      return { outcome: { ...outcome, resolved: step.how }, rows: asIs(null, step.how) }
    default:
      return step satisfies never
  }
}

function verdictIn({ kind, fields, cause, access }: DriftVerdict): DriftVerdict {
  return { kind, fields, cause, access }
}

/**
 * `record`: what replaces what was remembered; null where that stays. A difference changes nothing of what is
 * remembered: the claim that repairs makes its own lookup, and the brake counts its writes. The daily check of
 * capture must not repair a difference that is only to be reported. The record of an erased customer, of whom no
 * digest is kept, is a claim's to write.
 */
function recordOf({ subject, looked, sight }: CheckedCustomer) {
  const { key, work, mapped, digestKey } = subject
  const agrees = looked.kind === 'seen' && looked.compared.kind === 'agrees'
  if (!agrees || sight === null || sight === 'unreadable' || work.record.erased !== null)
    return { key, agrees, record: null }
  const { state, reason, issues, userId } = work.record
  const kept = { userId: userIdOf(mapped) ?? userId, state, reason, issues, existed: sight !== 'absent' }
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
