// The fields that differ, as values for people who asked to see them, and those that differ in form alone. Pure.
import type { ComparableField } from '../model/normal.ts'
import { OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../model/user.ts'
import { isLearnt } from '../sync/learnt.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import type { Sight } from './compare.ts'
import type { DriftField, DriftVerdict, Shown } from './words.ts'

/** Fields that the service shows in a form of its own that counts as the same. */
export function ownFormsOf(
  { mapped, work, digests, digestKey }: Snapshot,
  sight: Sight,
): readonly DriftField[] {
  if (mapped.kind !== 'user' || typeof sight === 'string' || work.record.digestKey !== digestKey) return []
  const sides = { desired: mapped.user.fields, remote: sight.fields }
  return OPTIONAL_FIELDS.filter(
    (field): field is ComparableField =>
      field !== UNVERIFIABLE_FIELD && isLearnt(field, sides, work.record.normalised, digests),
  )
}

/** Access is a matter of the status, also where no field of the customer is: nobody here, and let in there. */
export function shownOf(
  { mapped }: Snapshot,
  sight: Sight,
  { kind, fields }: DriftVerdict,
): readonly Shown[] {
  if (typeof sight === 'string') return []
  const desired = mapped.kind === 'user' ? { ...mapped.user.fields, status: mapped.user.status } : {}
  const here: Readonly<Partial<Record<DriftField, unknown>>> = desired
  const service: Readonly<Partial<Record<DriftField, unknown>>> = { ...sight.fields, status: sight.status }
  const told: readonly DriftField[] = kind === 'unexpected-access' ? ['status'] : fields
  return told.map((field) => ({ field, here: here[field] ?? null, service: service[field] ?? null }))
}
