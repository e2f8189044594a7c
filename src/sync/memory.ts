import type { Claim } from '../ledger/claim.ts'
import { type LedgerRecord, NO_RECORD } from '../ledger/record.ts'
import type { DesiredUser, OptionalField, Status, UserField } from '../model/user.ts'
import type { Method, ReadMeaning, WriteMeaning } from './classify.ts'
import { type Conflicting, leftOutStill, startConflict } from './conflict.ts'
import { assumedCountry, countryAtStart, withoutAssumed } from './country.ts'
import type { CustomerDigests } from './digest.ts'
import { isOutOfScope, type Mapped, userIdOf } from './map.ts'

type Part = 'remote' | 'sentStatus' | 'seenStatus' | 'sent' | 'seen' | 'refused' | 'erased' | 'observedForms'

/** Made by `withCall` (next-plan.ts). */
export type MadeCall = {
  readonly method: Method
  readonly meaning: WriteMeaning | ReadMeaning
  /** The effect of this request is known, or taken as known. A GET is trusted only if it shows the user, or that there is none. */
  readonly trusted: boolean
  /** The fields that a clear yes to it is about: with the `user_id` the user as a whole. */
  readonly fields: readonly UserField[]
  /** Its status would end a trial, if there was one. */
  readonly leavesTrial: boolean
}

export type SetAside = {
  readonly fields: readonly OptionalField[]
  /** The refused fields whose values another user has. */
  readonly conflicting: readonly OptionalField[]
  readonly alone: boolean
  /** Whether conflict answers name the right fields. False: the call without a named field was refused too. Null: none was named. */
  readonly credible: boolean | null
}

/** Plain: only `made` is used. */
type CallsSoFar = {
  /** In their order. */
  readonly made: readonly MadeCall[]
  /** A create was refused: with which status, and which optional fields it carried. */
  readonly refusedCreate: {
    readonly status: number
    readonly fields: readonly OptionalField[]
    /** The fields that the answer blames. */
    readonly named: readonly OptionalField[]
    /** Another user has something of it, be it the `user_id`. */
    readonly conflict: boolean
  } | null
  /** An update with fields was refused: these are set aside, and the rest goes, or the status alone. */
  readonly setAside: SetAside | null
  /** For the receipt: fields whose clearing was answered with a yes, or taken for one, and what a lookup after an earlier one shows. */
  readonly erasure: {
    readonly cleared: readonly OptionalField[] | null
    readonly left: readonly OptionalField[] | null
  }
}

/** A claim begins without calls. */
export const NO_CALLS: CallsSoFar = {
  made: [],
  refusedCreate: null,
  setAside: null,
  erasure: { cleared: null, left: null },
}

/** The knowledge of a claim: the ledger's record of the user, as each answer changes it, and the calls so far. */
export type Memory = Pick<LedgerRecord, Part> &
  CallsSoFar & {
    readonly conflict: Conflicting | null
    /** A GET of this claim has shown the user, and nothing was erased since. */
    readonly lookedUp: boolean
    /** No user is known, so that a stored refusal was about a create. */
    readonly creating: boolean
  }

type Recorded = Pick<Claim, 'unknown' | 'hiddenUnknown' | 'statusUnknown' | 'replanInMs'> & {
  readonly record: LedgerRecord
  /** As of a claim; absent as well where nothing is known to have changed. */
  readonly changedAtMs?: number | null
  readonly digests: Pick<CustomerDigests, 'keyId'>
}

/** Plain: the parts of the record as they are, and no calls. */
export function startMemory(start: Recorded & CustomerNow): Memory {
  return inViewOf(fromRecord(start), start)
}

/** `owed.unknown` overrules the record. An erased customer has no digests, and its status is known: 0. */
export function fromRecord({ record, unknown, hiddenUnknown, ...rest }: Recorded): Memory {
  const { statusUnknown, replanInMs, digests, changedAtMs = null } = rest
  const erased = record.erased !== null
  const rekeyed = !erased && record.digestKeyId !== null && record.digestKeyId !== digests.keyId
  const known = rekeyed ? withoutDigests(record) : record
  return {
    remote: unknown ? 'unknown' : known.remote, // plain: present
    sentStatus: statusUnknown && !erased && !trialHadEnded(record) ? null : record.sentStatus, // plain: 0, as recorded
    seenStatus: record.seenStatus, // plain: null
    sent: { ...known.sent, ...countryAtStart(record, { hiddenUnknown, rekeyed, changedAtMs }) }, // plain: known.sent
    seen: known.seen,
    refused: known.refused,
    conflict: startConflict(known, replanInMs), // plain: null
    erased: record.erased,
    observedForms: erased ? {} : known.observedForms,
    lookedUp: false,
    creating: record.remote !== 'present', // plain: false
    ...NO_CALLS,
  }
}

/** Digests of another key or normal form cannot be compared: a GET refreshes them, and not a write. */
function withoutDigests(record: LedgerRecord): LedgerRecord {
  const remote = record.remote === 'present' ? 'unknown' : record.remote
  return { ...record, remote, sent: {}, seen: {}, refused: {}, conflict: null, observedForms: {} }
}

/** The record's own GET showed the end of the trial. A 0 that a later GET shows may be the work of the lost call. */
function trialHadEnded({ sentStatus, seenStatus }: LedgerRecord): boolean {
  return sentStatus === 4 && seenStatus === 0
}

type CustomerNow = {
  readonly mapped: Mapped
  readonly record: Pick<LedgerRecord, 'userId' | 'remote'>
  readonly digests: CustomerDigests
}

/**
 * The memory in view of the customer as it stands now: nothing of a user with another `user_id`, and no
 * refusal or conflict that a change has made void. A status that was seen and is desired counts as sent. Only the
 * status is known of an erased customer that has come back, so everything is sent. A customer out of scope about which no
 * call was ever made stays unasked, also after a crash or when a lookup is wanted: the user there is another system's,
 * and looking would end in revoking it. Plain: the memory as it is.
 */
export function inViewOf(memory: Memory, { mapped, record, digests }: CustomerNow): Memory {
  const userId = userIdOf(mapped)
  if (userId !== null && record.userId !== null && userId !== record.userId) return NOTHING_KNOWN
  if (isOutOfScope(mapped) && record.remote === 'unasked') return NOTHING_KNOWN
  if (mapped.kind === 'rejected') return memory
  if (mapped.kind !== 'user') return { ...memory, conflict: null }
  const { user } = mapped
  if (memory.erased !== null)
    return acknowledgeSeen({ ...memory, sent: {}, seen: {}, refused: {}, conflict: null, erased: null }, user)
  const sent = { ...memory.sent, ...assumedCountry(memory, user, digests) } // plain: memory.sent
  const leftOut = leftOutStill(memory, mapped, digests) // plain: none, as before
  return acknowledgeSeen({ ...memory, ...leftOut, sent }, user)
}

const NOTHING_KNOWN = fromRecord({
  ...{ record: NO_RECORD, unknown: false, hiddenUnknown: false, statusUnknown: false },
  ...{ replanInMs: null, digests: { keyId: '' } },
})

/**
 * A GET that shows the desired status counts as its acknowledgement: for a call whose answer was lost, or for a user who was
 * there before us. The last acknowledged status tells whether a trial has ended, or the customer's own status has changed.
 */
export function acknowledgeSeen(memory: Memory, desired: DesiredUser | null): Memory {
  const shown = desired && memory.remote === 'present' && memory.seenStatus === desired.status
  return shown ? { ...memory, sentStatus: desired.status } : memory
}

type Rest = Pick<LedgerRecord, 'userId' | 'state' | 'reason' | 'discard' | 'issues' | 'existed'>

/** The record to store at the end of a claim. */
export function toRecord(memory: Memory, digestKeyId: string, rest: Rest): LedgerRecord {
  const { remote, sentStatus, seenStatus, refused, erased, observedForms } = memory
  const sent = withoutAssumed(memory.sent)
  const seen = erased === null ? memory.seen : {}
  const conflict = memory.conflict && { values: memory.conflict.values, tries: memory.conflict.tries }
  const remembered = { remote, sentStatus, seenStatus, sent, seen, refused, conflict, erased, observedForms }
  return { ...rest, ...remembered, digestKeyId }
}

/** Two fields that are one thing: a GET may show the number joined with its prefix (section 2.6, rule 3). */
export const PHONE: readonly OptionalField[] = ['mobile_phone', 'mobile_phone_prefix']

/** Known, and neither what was acknowledged nor what was seen since speaks against it. */
export function fieldIsRight(
  field: OptionalField,
  user: DesiredUser,
  memory: Pick<Memory, 'sent' | 'seen'>,
  digests: CustomerDigests,
): boolean {
  const value = user.fields[field] ?? null
  const sent = memory.sent[field]
  const seen = memory.seen[field]
  if (sent === undefined && seen === undefined) return false
  if (sent !== undefined && sent !== digests.exact(field, value)) return false
  return seen === undefined || seen === digests.normal(field, value) // an edited e-mail in a check: false
}

/** Status 0 seen where 4 was acknowledged is a trial that ended, and stays ended. */
export function statusIsRight(status: Status, memory: Pick<Memory, 'sentStatus' | 'seenStatus'>): boolean {
  const { sentStatus, seenStatus } = memory
  if (seenStatus === null) return sentStatus === status
  return seenStatus === status || (status === 4 && sentStatus === 4 && seenStatus === 0)
}
