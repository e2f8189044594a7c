import { type Digests, type LedgerRecord, NEVER_SETTLED } from '../ledger/record.ts'
import { type FieldIssue, isOutOfScope, type Mapped, userIdOf } from '../model/mapped.ts'
import {
  type DesiredUser,
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../model/user.ts'
import { type Conflicting, conflictStands, startConflict, userWithoutConflict } from './conflict.ts'
import { assumedCountry, countryAtStart, withoutAssumed } from './country.ts'
import { type CustomerDigests, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'

type Part = 'remote' | 'sentStatus' | 'seenStatus' | 'sent' | 'seen' | 'refused' | 'erased' | 'observedForms'

/** The record of the remote user while a claim runs; it starts as the ledger's record. */
export type Memory = Pick<LedgerRecord, Part> & {
  readonly conflict: Conflicting | null
  /** A GET of this claim has shown the user. */
  readonly lookedUp: boolean
  /** No user was known when the claim began, so that a stored refusal was about a create. */
  readonly creating: boolean
}

type Recorded = {
  readonly record: LedgerRecord
  readonly unknown: boolean
  readonly hiddenUnknown: boolean
  /** When the oldest change that is not settled was made; null or absent: nothing is known to have changed. */
  readonly changedAtMs?: number | null
  readonly statusUnknown: boolean
  /** In how long the customer is planned again though nothing has changed; null: at no such time. */
  readonly replanInMs: number | null
  readonly digestKey: string
}

/** The memory with which a claim of this customer starts. */
export function startMemory(start: Recorded & Present): Memory {
  return inViewOf(fromRecord(start), start)
}

/**
 * `owed.unknown` decides over the record, which is the last sure knowledge. An erased customer has no digests; status 0 was
 * acknowledged with the fields.
 */
export function fromRecord({
  record,
  unknown,
  hiddenUnknown,
  changedAtMs = null,
  ...rest
}: Recorded): Memory {
  const { statusUnknown, replanInMs, digestKey } = rest
  const erased = record.erased !== null
  const rekeyed = !erased && record.digestKey !== null && record.digestKey !== digestKey
  const known = rekeyed ? withoutDigests(record) : record
  return {
    remote: unknown ? 'unknown' : known.remote,
    sentStatus: statusUnknown && !erased && !trialHadEnded(record) ? null : record.sentStatus,
    seenStatus: record.seenStatus,
    sent: { ...known.sent, ...countryAtStart(record, { hiddenUnknown, rekeyed, changedAtMs }) },
    seen: known.seen,
    refused: known.refused,
    conflict: startConflict(known, replanInMs),
    erased: record.erased,
    observedForms: erased ? {} : known.observedForms,
    lookedUp: false,
    creating: record.remote !== 'present',
  }
}

/** Digests of another key or normal form cannot be compared: a GET refreshes them, and not a write. */
function withoutDigests(record: LedgerRecord): LedgerRecord {
  const remote = record.remote === 'present' ? 'unknown' : record.remote
  return { ...record, remote, sent: {}, seen: {}, refused: {}, conflict: null, observedForms: {} }
}

/** Seen before the outcome was unknown; a status of 0 that is seen only after it may be what the lost call has written. */
function trialHadEnded({ sentStatus, seenStatus }: LedgerRecord): boolean {
  return sentStatus === 4 && seenStatus === 0
}

type Present = {
  readonly mapped: Mapped
  readonly record: Pick<LedgerRecord, 'userId' | 'remote'>
  readonly digests: CustomerDigests
}

/**
 * The memory in view of the customer as it stands now: nothing of a user with another `user_id`, and no
 * refusal or conflict that a change has made void. A status that was seen and is desired counts as sent. Only the
 * status is known of an erased customer that has come back, so everything is sent. A customer out of scope about which no
 * call was ever made stays unasked, also after a crash or when a lookup is wanted: the user there is another system's,
 * and looking would end in revoking it.
 */
export function inViewOf(memory: Memory, { mapped, record, digests }: Present): Memory {
  const userId = userIdOf(mapped)
  if (userId !== null && record.userId !== null && userId !== record.userId) return UNHEARD_OF
  if (isOutOfScope(mapped) && record.remote === 'unasked') return UNHEARD_OF
  if (mapped.kind === 'rejected') return memory
  if (mapped.kind !== 'user') return { ...memory, conflict: null }
  const { user } = mapped
  if (memory.erased !== null)
    return agreed({ ...memory, sent: {}, seen: {}, refused: {}, conflict: null, erased: null }, user)
  const sent = { ...memory.sent, ...assumedCountry(memory, user, digests) }
  return agreed({ ...memory, ...leftOutStill(memory, mapped, digests), sent }, user)
}

/** Values that were left out, as far as no change has made that void. */
function leftOutStill(
  memory: Memory,
  mapped: Extract<Mapped, { kind: 'user' }>,
  digests: CustomerDigests,
): Pick<Memory, 'conflict' | 'refused'> {
  const conflict =
    memory.conflict && conflictStands(mapped.user, memory.conflict, digests) ? memory.conflict : null
  const user = userWithoutConflict(mapped, { ...memory, conflict })
  const stand = user !== null && currentRefusals(user, memory, digests).size > 0
  return { conflict, refused: stand ? memory.refused : {} }
}

const UNHEARD_OF = fromRecord({
  ...{ record: NEVER_SETTLED, unknown: false, hiddenUnknown: false, statusUnknown: false },
  ...{ replanInMs: null, digestKey: '' },
})

/**
 * Whether a trial has ended, or the customer's own status has changed since, can only be derived from the status
 * that was last agreed on. A call whose answer was lost, or a user who was there before us, agrees by a GET.
 */
export function agreed(memory: Memory, desired: DesiredUser | null): Memory {
  const shown = desired && memory.remote === 'present' && memory.seenStatus === desired.status
  return shown ? { ...memory, sentStatus: desired.status } : memory
}

/**
 * Fields that the mapping has ceased to set belong to other systems: what we sent or saw once says nothing about them
 * when the mapping sets them again.
 */
export function forgetUnmanaged(memory: Memory, managed: (field: OptionalField) => boolean): Memory {
  const kept = (digests: Digests): Digests =>
    Object.fromEntries(Object.entries(digests).filter(([field]) => managed(field as OptionalField)))
  return { ...memory, sent: kept(memory.sent), seen: kept(memory.seen) }
}

type Rest = Pick<LedgerRecord, 'userId' | 'state' | 'reason' | 'issues' | 'existed'>

/** The record to store at the end of a claim. */
export function toRecord(memory: Memory, digestKey: string, rest: Rest): LedgerRecord {
  const { remote, sentStatus, seenStatus, refused, erased, observedForms } = memory
  const sent = withoutAssumed(memory.sent)
  const seen = erased === null ? memory.seen : {}
  const conflict = memory.conflict && { values: memory.conflict.values, tries: memory.conflict.tries }
  const remembered = { remote, sentStatus, seenStatus, sent, seen, refused, conflict, erased, observedForms }
  return { ...rest, ...remembered, digestKey }
}

/** Field issues to record: what the mapping left out, and what the service refused. */
export function issuesOf(mapped: readonly FieldIssue[], memory: Pick<Memory, 'refused'>): FieldIssue[] {
  const refused = OPTIONAL_FIELDS.filter((field) => memory.refused[field] !== undefined)
  return [
    ...mapped,
    ...refused.map((field) => ({
      field,
      code: 'refused' as const,
      expected: 'a value that the service takes',
    })),
  ]
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
  return seen === undefined || seen === digests.normal(field, value)
}

/** Status 0 seen where 4 was acknowledged is a trial that ended, and stays ended. */
export function statusIsRight(status: Status, memory: Pick<Memory, 'sentStatus' | 'seenStatus'>): boolean {
  const { sentStatus, seenStatus } = memory
  if (seenStatus === null) return sentStatus === status
  return seenStatus === status || (status === 4 && sentStatus === 4 && seenStatus === 0)
}

/**
 * Values that the service refused are not sent again until one of them changes; then all are tried again,
 * because which of them it refused is not shown.
 */
export function currentRefusals(
  { fields: values }: DesiredUser,
  { refused }: Pick<Memory, 'refused'>,
  digests: CustomerDigests,
): ReadonlySet<OptionalField> {
  const fields = OPTIONAL_FIELDS.filter((field) => refused[field] !== undefined)
  const stand = fields.every(
    (field) => values[field] !== undefined && refusalMark(field, values, digests) === refused[field],
  )
  return new Set(stand ? fields : [])
}

/** Stands for a value that was refused. A number may have been refused for its prefix, so it goes with that. */
export function refusalMark(field: OptionalField, fields: Fields, digests: CustomerDigests): string {
  const value = fields[field] ?? null
  const prefix = field === 'mobile_phone' ? fields.mobile_phone_prefix : null
  return digests.exact(field, value !== null && prefix ? `${prefix} ${value}` : value)
}

/** The fields that a GET showed of a removed customer's user; `country_code` is in no GET. */
export function fieldsShown({ seen }: Pick<Memory, 'seen'>): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => (seen[field] ?? NO_VALUE) !== NO_VALUE)
}

/**
 * Fields of an erased customer that the service refused to clear, and those that a lookup has shown since without
 * a second clearing. A service that shows it for ever is not asked a third time.
 */
export function fieldsToClearAgain(memory: Pick<Memory, 'sent' | 'seen' | 'refused'>): OptionalField[] {
  const shown = fieldsShown(memory).filter((field) => memory.sent[field] === undefined)
  const isUnknown = (field: OptionalField) => memory.sent[field] === UNKNOWN_VALUE
  return OPTIONAL_FIELDS.filter(
    (field) => memory.refused[field] !== undefined || shown.includes(field) || isUnknown(field),
  )
}

/** Fields that the mapping does not set and that hold a value at the service, seen there or once sent by us. */
export function unmanagedOf(
  user: DesiredUser,
  { sent, seen }: Pick<Memory, 'sent' | 'seen'>,
): OptionalField[] {
  return OPTIONAL_FIELDS.filter(
    (field) => user.fields[field] === undefined && (seen[field] ?? sent[field] ?? NO_VALUE) !== NO_VALUE,
  )
}
