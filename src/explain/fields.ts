// A customer's fields, desired and at the service, side by side: names and states, never a value. Pure.
import { causesOf, compare } from '../drift/compare.ts'
import type { DriftCause, DriftVerdict } from '../drift/words.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { normalForm } from '../model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { conflictStands, fieldsIn, takenIssues } from '../sync/conflict.ts'
import { issuesOf } from '../sync/memory.ts'
import { standingRefusals } from '../sync/right.ts'
import type { Snapshot } from '../sync/snapshot.ts'

/**
 * `spelling`: the same in another form. `left-out`: it is not sent (its value is invalid, or the service refuses it).
 * `unmanaged`: the mapping does not set it. `not-shown`: in no GET (section 2.6, rule 1).
 */
type FieldState = 'same' | 'spelling' | 'differs' | 'trial-ended' | 'left-out' | 'unmanaged' | 'not-shown'

export type FieldRow = {
  readonly field: 'status' | OptionalField
  readonly here: 'set' | 'empty' | 'unmanaged'
  readonly service: 'set' | 'empty' | 'not-shown'
  readonly state: FieldState
  /** Of what differs; null elsewhere, and where there are no records to tell it by. */
  readonly cause: DriftCause | null
  /** Why it is left out. */
  readonly issue: FieldIssue['code'] | null
}

export type Comparison = {
  /** Null: they agree, as far as a GET shows. */
  readonly drift: DriftVerdict | null
  readonly fields: readonly FieldRow[]
}

type Given = {
  readonly seen: RemoteUser | 'absent'
  readonly leftOut: readonly FieldIssue[]
  /** There are records, and their digests were made with the key that is at hand. */
  readonly comparable: boolean
}

/** The comparison is that of every check. */
export function compareFields(snapshot: Snapshot, { seen, leftOut, comparable }: Given): Comparison {
  const clues = { doubted: [], generation: snapshot.work.generation ?? '0' }
  const compared = compare(snapshot, seen, clues)
  const drift = compared.kind === 'agrees' ? null : comparable ? compared : asFarAsKnown(compared, leftOut)
  const { mapped } = snapshot
  if (seen === 'absent' || mapped.kind === 'rejected') return { drift, fields: [] }
  const causes = causesOf(snapshot, clues)
  const wrong: readonly string[] =
    drift === null ? [] : drift.kind === 'unexpected-access' ? ['status'] : drift.fields
  const status: FieldRow = {
    ...{ field: 'status', here: 'set', service: 'set', issue: null },
    state: drift?.kind === 'trial-ended' ? 'trial-ended' : wrong.includes('status') ? 'differs' : 'same',
    cause:
      comparable && wrong.includes('status') && drift?.kind !== 'trial-ended'
        ? causes.ofField('status')
        : null,
  }
  if (mapped.kind !== 'user') return { drift, fields: [status] }
  const desired = mapped.user.fields
  const rows = OPTIONAL_FIELDS.map((field): FieldRow => {
    const issue = leftOut.find((each) => each.field === field)?.code ?? null
    const value = desired[field]
    const here = value === undefined ? 'unmanaged' : value === null ? 'empty' : 'set'
    if (field === UNVERIFIABLE_FIELD) {
      const state = issue ? 'left-out' : here === 'unmanaged' ? 'unmanaged' : 'not-shown'
      return { field, here, service: 'not-shown', state, cause: null, issue }
    }
    const service = normalForm(field, seen.fields[field]) === null ? 'empty' : 'set'
    if (wrong.includes(field))
      return {
        field,
        here,
        service,
        state: 'differs',
        cause: comparable ? causes.ofField(field) : null,
        issue,
      }
    if (issue) return { field, here, service, state: 'left-out', cause: null, issue }
    if (here === 'unmanaged') return { field, here, service, state: 'unmanaged', cause: null, issue }
    const letters = String(value ?? '') === String(seen.fields[field] ?? '')
    return { field, here, service, state: letters ? 'same' : 'spelling', cause: null, issue }
  })
  return { drift, fields: [status, ...rows] }
}

/** With another digest key a refusal is taken as it was recorded, and nothing can be said of the cause. */
function asFarAsKnown(drift: DriftVerdict, leftOut: readonly FieldIssue[]): DriftVerdict | null {
  if (drift.kind !== 'differs') return { ...drift, cause: null }
  const fields = drift.fields.filter((field) => leftOut.every((issue) => issue.field !== field))
  return fields.length === 0 ? null : { ...drift, fields, cause: null }
}

/**
 * The fields that are not sent, and why. Whether a refused value is still the one in the row can only be told with the
 * digest key that the record was made with; without it the refusal is shown as it was recorded. A customer that cannot be
 * mapped at all says so itself.
 */
export function leftOutOf({ mapped, work: { record }, digests, digestKey }: Snapshot): FieldIssue[] {
  if (mapped.kind !== 'user') return []
  const { user, issues } = mapped
  if (record.userId !== user.userId) return [...issues]
  const comparable = record.digestKey === digestKey
  const standing = comparable ? standingRefusals(user, record, digests) : null
  const refused = OPTIONAL_FIELDS.filter(
    (field) =>
      record.refused[field] !== undefined &&
      user.fields[field] !== undefined &&
      (standing?.has(field) ?? true),
  )
  const { conflict } = record
  const taken = conflict && (!comparable || conflictStands(user, conflict, digests)) ? conflict.values : {}
  const given = fieldsIn(taken).filter((field) => user.fields[field] !== undefined)
  return issuesOf([...issues, ...takenIssues(given)], {
    refused: Object.fromEntries(refused.map((field) => [field, ''])),
  })
}
