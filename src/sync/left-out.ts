// Values that the service refused. They are left out, like those that another user has (conflict.ts).
import type { LedgerRecord } from '../ledger/record.ts'
import type { FieldIssue, Mapped } from '../model/mapped.ts'
import { type DesiredUser, type Fields, OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import { type Conflicting, conflictStands, userWithoutConflict } from './conflict.ts'
import type { CustomerDigests } from './digest.ts'

type Refused = Pick<LedgerRecord, 'refused'>
type LeftOut = Refused & { readonly conflict: Conflicting | null }

/** Values that were left out, as far as no change has made that void. */
export function leftOutStill(
  memory: LeftOut & Pick<LedgerRecord, 'sent' | 'seen'>,
  mapped: Extract<Mapped, { kind: 'user' }>,
  digests: CustomerDigests,
): LeftOut {
  const conflict =
    memory.conflict && conflictStands(mapped.user, memory.conflict, digests) ? memory.conflict : null
  const user = userWithoutConflict(mapped, { ...memory, conflict })
  const stand = user !== null && currentRefusals(user, memory, digests).size > 0
  return { conflict, refused: stand ? memory.refused : {} }
}

/**
 * Values that the service refused are not sent again until one of them changes; then all are tried again,
 * because which of them it refused is not shown.
 */
export function currentRefusals(
  { fields: values }: DesiredUser,
  { refused }: Refused,
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

/** Field issues to record: what the mapping left out, and what the service refused. */
export function issuesOf(mapped: readonly FieldIssue[], memory: Refused): FieldIssue[] {
  const refused = OPTIONAL_FIELDS.filter((field) => memory.refused[field] !== undefined)
  const [code, expected] = ['refused', 'a value that the service takes'] as const
  return [...mapped, ...refused.map((field) => ({ field, code, expected }))]
}
