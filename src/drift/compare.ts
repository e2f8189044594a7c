// What a GET says of a customer while nothing is owed to it. Pure; the comparison is that of `rollcall sync --diff`, the
// plan that of every sync.
import { leftOutOf } from '../access/left-out.ts'
import { heldBackBy, plansFor } from '../access/next.ts'
import { absenceOf } from '../diff/diff.ts'
import { type Row, recordFor, rowsOf, type Standing } from '../diff/rows.ts'
import type { KnownRecord, Reason } from '../ledger/record.ts'
import type { Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { entitled, type Status, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import type { CustomerDigests } from '../sync/digest.ts'
import type { Memory } from '../sync/memory.ts'
import { accessAfter, type Policy } from '../sync/plan.ts'
import { rememberAbsent, rememberSeen } from '../sync/remember.ts'
import { type Clues, causeOfAbsence, causeOfFields } from './cause.ts'
import { accessWhileHeld, thereWhenHeld, wantedWhenHeld, wrongWhenFound } from './held-access.ts'
import type { DriftField, DriftKind, DriftVerdict, Skipped, Verdict, WrongAccess } from './words.ts'

/** A customer as it stands, and what is remembered of it; all of one moment. */
export type Subject = {
  readonly key: CustomerKey
  readonly work: Work
  readonly mapped: Mapped
  /** Other customers in scope that claim the same user. */
  readonly rivals: readonly CustomerKey[]
  readonly policy: Policy
  readonly digests: CustomerDigests
  /** Names the key of the digests. */
  readonly digestKey: string
  /** Digest of all that the mapping makes of the customer. */
  readonly desired: string
  /** The database's time, in milliseconds since 1970. */
  readonly nowMs: number
}

/** What a GET showed; `unreadable`: a 2xx that is no user, or another one. */
export type Sight = RemoteUser | 'absent' | 'unreadable'

/** The lag of the service: what was written so lately may not be shown yet. */
type Lag = { readonly consistencyDelayMs: number }

/**
 * Why a customer cannot be verified now; null where it can. A difference means something only while nothing is owed and
 * nothing was written a moment ago, and only for a user who is ours.
 */
export function reasonToSkip(subject: Subject, { consistencyDelayMs }: Lag): Skipped | null {
  const { work, mapped, nowMs } = subject
  const { record, owed, claimed, unknown, replanAtMs } = work
  const due = replanAtMs !== null && replanAtMs <= nowMs
  if (owed || claimed || unknown || due) return 'owed'
  if (userIdOf(mapped) === null || mapped.kind === 'rejected') return 'rejected'
  const known = recordFor(record, userIdOf(mapped))
  switch (known.state) {
    case 'rejected':
    case 'held':
    case 'discarded':
      return known.state
    case 'failing':
      return 'owed'
    case 'idle':
      break
    default:
      return known.state satisfies never
  }
  if (isFresh(known.writtenAgoMs, { consistencyDelayMs })) return 'just-settled'
  return notOurs(subject)
}

/** A database whose clock was set back tells a negative age: one far below zero is old, and not young for ever. */
export function isFresh(writtenAgoMs: number | null, { consistencyDelayMs }: Lag): boolean {
  return writtenAgoMs !== null && Math.abs(writtenAgoMs) < consistencyDelayMs
}

function notOurs(subject: Subject): Skipped | null {
  const { now } = plansFor(askedOf(subject, undefined))
  if (now.kind === 'reject') return 'rejected'
  if (now.kind !== 'none') return null
  return now.why === 'never-ours' || now.why === 'ignored' || now.why === 'user-of-another-customer'
    ? 'not-ours'
    : null
}

/** Of somebody who is held; by what a release would send. */
export function heldAccess(subject: Subject): WrongAccess | null {
  const { now, memory } = plansFor(askedOf(subject, undefined))
  const reason: Pick<Reason, 'kinds' | 'entitles'> = subject.work.record.reason ?? {}
  if (reason.kinds?.includes('repair')) return wrongWhenFound(reason)
  const wanted = now.kind === 'lookup' ? wantedWhenHeld(reason) : accessAfter(now)
  return accessWhileHeld(wanted, thereWhenHeld(reason, memory))
}

/** A drift as it looks at first; the record of an earlier look may know the cause better. */
export type Compared = Extract<Verdict, { kind: 'agrees' | DriftKind }>

export type Comparing = Omit<Clues, 'mappingChanged' | 'verifiedOnce' | 'doubtful'> & {
  /** The present generation of the mapping. */
  readonly generation: string
}

export function compare(subject: Subject, sight: Sight, clues: Comparing): Compared {
  const { mapped, work } = subject
  const given = { ...clues, ...cluesOf(subject, clues.generation) }
  const standing = standingOf(subject)
  if (sight === 'unreadable') return drift('unreadable', { cause: causeOfAbsence('changed-there', given) })
  if (sight === 'absent') {
    // Whom no sync would register, having seen that, is rightly absent.
    const { looked } = plansFor(askedOf(subject, sight))
    if (mapped.kind !== 'user' || looked?.kind === 'none') return { kind: 'agrees' }
    const cause = causeOfAbsence(absenceOf(standing), given)
    return drift('missing', { cause, access: wrongAccess(mapped.user.status, 0) })
  }
  const rows = rowsFor(subject, standing, sight)
  const wrong = rows.filter((row) => isWrong(row, subject))
  const causes = wrong.map((row) => ({ ...row, agreedOnce: agreedOnce(row, subject, standing.record) }))
  if (mapped.kind !== 'user') {
    if (wrong.length > 0)
      return drift('unexpected-access', { cause: causeOfFields(causes, given), access: 'undue' })
    const shown = shownAgain(subject, sight)
    const cause = work.record.erased === null ? 'never-delivered' : 'edited-at-service'
    return shown.length > 0 ? drift('differs', { fields: shown, cause }) : { kind: 'agrees' }
  }
  if (wrong.length > 0) {
    const fields = wrong.flatMap(fieldOf)
    const access = fields.includes('status') ? wrongAccess(mapped.user.status, sight.status) : null
    return drift('differs', { fields, cause: causeOfFields(causes, given), access })
  }
  const ended = rows.some(({ verdict }) => verdict === 'trial-ended')
  if (ended) return drift('trial-ended', { fields: ['status'] })
  const { looked } = plansFor(askedOf(subject, sight))
  const hidden = looked !== null && 'fields' in looked && looked.fields.includes(UNVERIFIABLE_FIELD)
  return hidden ? { kind: 'agrees', hidden } : { kind: 'agrees' }
}

function drift(
  kind: DriftKind,
  { fields = [], cause = null, access = null }: Partial<DriftVerdict>,
): DriftVerdict {
  return { kind, fields, cause, access }
}

/** A status that the interface does not have says nothing of access. */
function wrongAccess(here: Status, there: number): WrongAccess | null {
  if (entitled(here)) return there === 0 ? 'lost' : null
  return entitled(there) ? 'undue' : null
}

/** What no sync would change is none: a value that the service refused, or a stray that has to wait for another field. */
function isWrong({ verdict, here }: Row, { mapped, work }: Subject): boolean {
  if (verdict !== 'differs' || here === 'refused') return false
  const incomplete = mapped.kind === 'user' && mapped.issues.length > 0
  return here !== 'cleared' || !(incomplete || heldBackBy(work.record).length > 0)
}

function fieldOf({ field }: Pick<Row, 'field'>): readonly DriftField[] {
  return field === UNVERIFIABLE_FIELD ? [] : [field]
}

/** Of somebody whose personal fields are to be gone: those that are there. */
function shownAgain(subject: Subject, sight: RemoteUser): readonly DriftField[] {
  if (subject.mapped.kind !== 'removed' || subject.policy.onRemove !== 'erase') return []
  const looked = memoryAfter(subject, sight)
  const { looked: plan } = plansFor(askedOf(subject, sight))
  if (plan?.kind !== 'erase') return []
  const refused = Object.keys(subject.work.record.refused)
  return plan.fields.flatMap((field) => {
    const shown = (looked.seen[field] ?? 'null') !== 'null' && !refused.includes(field)
    return shown ? fieldOf({ field }) : []
  })
}

/** What is remembered once this was seen; as after the same GET in a claim. */
export function memoryAfter(subject: Subject, sight: RemoteUser | 'absent'): Memory {
  const { mapped, digests } = subject
  const { memory } = plansFor(askedOf(subject, undefined))
  if (sight === 'absent') return rememberAbsent(memory)
  return rememberSeen(memory, sight, mapped.kind === 'user' ? mapped.user : null, digests)
}

function askedOf(subject: Subject, seen: RemoteUser | 'absent' | undefined) {
  const { mapped, rivals, policy, digests, digestKey, work, nowMs } = subject
  const { unknown, blind, statusDoubted, record, replanAtMs } = work
  const replanInMs = replanAtMs === null ? null : replanAtMs - nowMs
  const owed = { unknown, blind, statusDoubted, replanInMs, sinceMs: null, dueInMs: null, underWay: false }
  return { mapped, rivals, policy, digests, digestKey, known: { record, owed }, seen }
}

function rowsFor(subject: Subject, standing: Standing, sight: RemoteUser): readonly Row[] {
  const { mapped, digests, digestKey, work } = subject
  const asked = askedOf(subject, sight)
  const { memory } = plansFor(asked)
  const leftOut = leftOutOf(mapped, work.record, { digests, digestKey })
  return rowsOf({ looked: { leftOut }, evidence: asked, standing, memory, remote: sight })
}

export function standingOf({ work, mapped, digestKey }: Subject): Standing {
  const record = recordFor(work.record, userIdOf(mapped))
  const comparable = record.digestKey === null || record.digestKey === digestKey
  return { record, known: true, comparable, unknown: work.unknown, owed: work.owed, fresh: false }
}

function cluesOf(
  { work, desired, digestKey }: Subject,
  generation: string,
): Pick<Clues, 'mappingChanged' | 'verifiedOnce' | 'doubtful'> {
  const { record, doubtful, blind } = work
  const older = work.generation !== null && BigInt(work.generation) < BigInt(generation)
  const comparable = work.desired !== null && record.digestKey === digestKey
  return {
    mappingChanged: older && comparable && work.desired !== desired,
    verifiedOnce: record.verifiedAgoMs !== null,
    doubtful: doubtful || blind,
  }
}

function agreedOnce({ field }: Row, { mapped, digests }: Subject, { seen }: KnownRecord): boolean {
  if (field === 'status' || field === UNVERIFIABLE_FIELD || mapped.kind !== 'user') return false
  return seen[field] !== undefined && seen[field] === digests.normal(field, mapped.user.fields[field] ?? null)
}
