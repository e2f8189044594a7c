// The fields that differ, as digests for what is kept of them, and as values for people who asked to see them. Pure.
import { shownForm } from '../sync/learnt.ts'
import type { Sight, Subject } from './compare.ts'
import type { Seen } from './learn.ts'
import type { DriftField, DriftVerdict, Shown } from './words.ts'

/** What was acknowledged since the difference was stored: a GET that differs takes that mark away. */
export function seenOf(
  { mapped, work, digests, digestKey }: Subject,
  sight: Sight,
  fields: readonly DriftField[],
): Seen {
  if (mapped.kind !== 'user' || typeof sight === 'string' || work.record.digestKey !== digestKey) return {}
  const desired = mapped.user.fields
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = field === 'status' ? undefined : desired[field]
      if (field === 'status' || value === undefined) return []
      const exact = digests.exact(field, value)
      const form = shownForm(field, sight.fields, digests)
      return [[field, { form, exact, written: work.record.sent[field] === exact }] as const]
    }),
  )
}

/** Access is a matter of the status, also where no field of the customer is: nobody here, and let in there. */
export function shownOf({ mapped }: Subject, sight: Sight, { kind, fields }: DriftVerdict): readonly Shown[] {
  if (typeof sight === 'string') return []
  const desired = mapped.kind === 'user' ? { ...mapped.user.fields, status: mapped.user.status } : {}
  const here: Readonly<Partial<Record<DriftField, unknown>>> = desired
  const service: Readonly<Partial<Record<DriftField, unknown>>> = { ...sight.fields, status: sight.status }
  const told: readonly DriftField[] = kind === 'unexpected-access' ? ['status'] : fields
  return told.map((field) => ({ field, here: here[field] ?? null, service: service[field] ?? null }))
}
