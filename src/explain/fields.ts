// A customer's fields, desired and at the service, side by side: names and states, never a value. Pure.
import { causesOf } from '../drift/causes.ts'
import { compare } from '../drift/compare.ts'
import type { DriftCause, DriftField, DriftVerdict } from '../drift/words.ts'
import { isJustWritten, type KnownRecord } from '../ledger/record.ts'
import type { FieldIssue } from '../model/customer.ts'
import { normalForm } from '../model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { conflictStands, currentRefusals, fieldsIn, issuesOf, takenIssues } from '../sync/conflict.ts'
import { UNKNOWN_VALUE } from '../sync/digest.ts'
import { wrongFields } from '../sync/plan.ts'
import { planAfter, recordOfUser, type Snapshot } from '../sync/snapshot.ts'

/**
 * `spelling`: the same in another form. `trial-ended`: not to be corrected. `left-out`: it is not sent (its value is
 * invalid, or the service refuses it). `unmanaged`: the mapping does not set it. `not-shown`: in no GET (section 2.6, rule 1).
 */
type FieldState = 'same' | 'spelling' | 'differs' | 'trial-ended' | 'left-out' | 'unmanaged' | 'not-shown'

/** As of a check, and: changed here since, not shown yet by a GET, or in no GET and acknowledged as it is here. */
export type FieldCause = DriftCause | 'changed-here' | 'just-written' | 'acknowledged'

type Field = 'status' | OptionalField

export type FieldRow = {
  readonly field: Field
  readonly here: 'set' | 'empty' | 'unmanaged'
  readonly service: 'set' | 'empty' | 'not-shown'
  readonly state: FieldState
  /** The cause of a difference; null where nothing differs, and where no records tell it. */
  readonly cause: FieldCause | null
  readonly issue: FieldIssue['code'] | null
  /** The values in the row and in the GET, null for none; only for people who asked to see it. */
  readonly values?: { readonly here: unknown; readonly service: unknown }
}

/** `drift` null: they agree, as far as a GET shows. */
export type Comparison = { readonly drift: DriftVerdict | null; readonly fields: readonly FieldRow[] }

type Given = {
  readonly observed: RemoteUser | 'absent'
  /** Fields that writes of unknown outcome carried. */
  readonly unclear: readonly string[]
  readonly leftOut: readonly FieldIssue[]
  /** There are records, and their digests were made with the key that is at hand. */
  readonly comparable: boolean
  readonly showValues: boolean
  readonly consistencyDelayMs: number
}

export function compareFields(snapshot: Snapshot, given: Given): Comparison {
  const { observed, unclear, leftOut, comparable, showValues, consistencyDelayMs } = given
  const known = { unclear, generation: snapshot.work.generation ?? '0' }
  const compared = compare(snapshot, observed, known)
  const drift = compared.kind === 'agrees' ? null : comparable ? compared : asFarAsKnown(compared, leftOut)
  const { mapped } = snapshot
  if (observed === 'absent' || mapped.kind === 'rejected') return { drift, fields: [] }
  const { status: here, fields } = mapped.kind === 'user' ? mapped.user : { status: 0, fields: {} as const }
  const causes = causesOf(snapshot, known)
  const unseen = wrongFields({ ...snapshot, memory: planAfter(snapshot, observed).memory })
  const wrong: readonly Field[] = [...wrongIn(drift), ...unseen.filter((each) => each === UNVERIFIABLE_FIELD)]
  const causeOf = (field: Field) => {
    // The status is stored plainly; all other fields need the digest key.
    if (!wrong.includes(field) || (!comparable && field !== 'status')) return null
    // The cause of an erasure is that of the user: there is no value here to compare with.
    const cause = mapped.kind === 'user' ? causes.ofFields([field]) : (drift?.cause ?? null)
    return cause && nowCause(cause, field, recordOfUser(snapshot), consistencyDelayMs)
  }
  const valuesOf = (here: unknown, service: unknown) =>
    showValues ? { values: { here: here ?? null, service: service ?? null } } : {}

  const status: FieldRow = {
    ...{ field: 'status', here: 'set', service: 'set', issue: null, cause: causeOf('status') },
    state: wrong.includes('status') ? 'differs' : here === observed.status ? 'same' : 'trial-ended',
    ...valuesOf(here, observed.status),
  }
  const shown = OPTIONAL_FIELDS.filter((field) => mapped.kind === 'user' || wrong.includes(field))
  const rows = shown.map((field): FieldRow => {
    const own = mapped.kind === 'user' ? fields[field] : null
    const theirs = observed.fields[field]
    const isSet = normalForm(field, theirs) === null ? 'empty' : 'set'
    const row = {
      field,
      here: own === undefined ? 'unmanaged' : own === null ? 'empty' : 'set',
      service: field === UNVERIFIABLE_FIELD ? 'not-shown' : isSet,
      issue: leftOut.find((each) => each.field === field)?.code ?? null,
      ...valuesOf(own, theirs),
    } as const
    const sameLetters = String(own ?? '') === String(theirs ?? '')
    const isWrong = wrong.includes(field) && row.service !== 'not-shown'
    const state = isWrong ? 'differs' : stateOf(row, sameLetters)
    const same = comparable && state === 'not-shown' ? 'acknowledged' : null
    return { ...row, state, cause: causeOf(field) ?? same }
  })
  return { drift, fields: [status, ...rows] }
}

function nowCause(cause: DriftCause, field: Field, known: KnownRecord, lagMs: number): FieldCause {
  const { writtenAgoMs, verifiedAgoMs, sentStatus, sent, seen, reason, remote } = known
  if (cause === 'edited-at-service') return isJustWritten(known, lagMs) ? 'just-written' : cause
  if (cause !== 'never-delivered') return cause
  if ((writtenAgoMs ?? verifiedAgoMs) === null) return remote === 'unknown' ? 'unknown-outcome' : cause
  // The status of a call without an answer is not kept, whatever has failed since.
  if (field === 'status' && sentStatus === null) return 'unknown-outcome'
  if (reason?.code === 'unknown' && reason.fields?.includes(field)) return 'unknown-outcome'
  const before = field === 'status' ? sentStatus : (sent[field] ?? seen[field] ?? null)
  if (before === UNKNOWN_VALUE) return 'unknown-outcome'
  return before === null ? cause : 'changed-here'
}

function wrongIn(drift: DriftVerdict | null): readonly DriftField[] {
  if (drift === null) return []
  if (drift.kind === 'unexpected-access') return ['status']
  return drift.kind === 'trial-ended' ? drift.fields.filter((field) => field !== 'status') : drift.fields
}

function stateOf(
  { issue, here, service }: Pick<FieldRow, 'issue' | 'here' | 'service'>,
  sameLetters: boolean,
): FieldState {
  if (issue !== null) return 'left-out'
  if (here === 'unmanaged') return 'unmanaged'
  if (service === 'not-shown') return 'not-shown'
  return sameLetters ? 'same' : 'spelling'
}

/** With another digest key a refusal is taken as it was recorded, and nothing can be said of the cause. */
function asFarAsKnown(drift: DriftVerdict, leftOut: readonly FieldIssue[]): DriftVerdict | null {
  if (drift.kind !== 'differs') return { ...drift, cause: null }
  const fields = drift.fields.filter((field) => leftOut.every((issue) => issue.field !== field))
  return fields.length === 0 ? null : { ...drift, fields, cause: null }
}

/**
 * The fields that are not sent, and why. Whether a refused value is still the one in the row can only be decided with the
 * digest key that the record was made with; without it the refusal is shown as it was recorded. A customer that cannot be
 * mapped at all says so itself.
 */
export function leftOutOf({ mapped, work: { record }, digests }: Snapshot): FieldIssue[] {
  if (mapped.kind !== 'user') return []
  const { user, issues } = mapped
  if (record.userId !== user.userId) return [...issues]
  const comparable = record.digestKeyId === digests.keyId
  const mapping = comparable ? currentRefusals(user, record, digests) : null
  const refused = OPTIONAL_FIELDS.filter(
    (field) =>
      record.refused[field] !== undefined &&
      user.fields[field] !== undefined &&
      (mapping?.has(field) ?? true),
  )
  const { conflict } = record
  const taken = conflict && (!comparable || conflictStands(user, conflict, digests)) ? conflict.values : {}
  const given = fieldsIn(taken).filter((field) => user.fields[field] !== undefined)
  return issuesOf([...issues, ...takenIssues(given)], {
    refused: Object.fromEntries(refused.map((field) => [field, ''])),
  })
}
