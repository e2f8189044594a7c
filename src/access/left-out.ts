// The fields of a customer that are not sent, and why: names and codes, as `rollcall status` counts them.
import type { KnownRecord } from '../ledger/record.ts'
import type { FieldIssue, Mapped } from '../model/mapped.ts'
import { OPTIONAL_FIELDS } from '../model/user.ts'
import { conflictStands, fieldsIn, takenIssues } from '../sync/conflict.ts'
import type { CustomerDigests } from '../sync/digest.ts'
import { issuesOf } from '../sync/memory.ts'
import { standingRefusals } from '../sync/right.ts'

type Recorded = Pick<KnownRecord, 'userId' | 'refused' | 'conflict' | 'digestKey'>
type Digesting = { readonly digests: CustomerDigests; readonly digestKey: string }

/**
 * Whether a refused value is still the one in the row can only be told with the digest key that the record was made
 * with; without it the refusal is shown as it was recorded. A customer that cannot be mapped at all says so itself.
 */
export function leftOutOf(mapped: Mapped, record: Recorded, { digests, digestKey }: Digesting): FieldIssue[] {
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
