// Whether what the service shows is what was last sent and last seen, by the digests that the ledger keeps of both.
import { type ComparableField, normalForm, sameField, seenForm } from '../model/normal.ts'
import { type Fields, type FieldValue, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { BELIEVED, type CustomerDigests, DOUBTED } from '../sync/digest.ts'
import type { Sides } from '../sync/learnt.ts'
import { PHONE } from '../sync/right.ts'
import type { As, Current } from './cause.ts'

type FieldDigests = Readonly<Partial<Record<OptionalField, string>>>

export type Remembered = {
  readonly sent: FieldDigests
  readonly seen: FieldDigests
  /** What no GET shows counts as never acknowledged. */
  readonly blind: boolean
  readonly digests: CustomerDigests
}

/** Whether the desired value (none counts as empty) is the one that a call last carried. */
export function currentOf(
  field: OptionalField,
  desired: Fields,
  { sent, blind, digests }: Remembered,
): Current {
  const stored = sent[field]
  if (stored === undefined) return 'never'
  if (stored === DOUBTED || (blind && field === UNVERIFIABLE_FIELD)) return 'doubted'
  return stored === BELIEVED || stored === digests.exact(field, desired[field] ?? null) ? 'yes' : 'no'
}

/** Digests of what was seen are of normal forms: that of the desired value then, where both were the same. */
export function asSeen(field: ComparableField, { desired, remote }: Sides, remembered: Remembered): As {
  const { seen, digests } = remembered
  const stored = seen[field]
  if (stored === undefined) return 'never'
  const forms = [normalForm(field, remote[field]), seenForm(field, desired, remote)]
  if (forms.some((form) => digests.ofForm(field, form) === stored)) return 'yes'
  const asPhone = (number: string, prefix: string) =>
    seen.mobile_phone === digests.ofForm('mobile_phone', number) &&
    seen.mobile_phone_prefix === digests.ofForm('mobile_phone_prefix', prefix)
  return PHONE.includes(field) && joinedAs(remote, asPhone) ? 'yes' : 'no'
}

/**
 * Digests of what was sent are of the exact values, and the service may show them in a form of its own. It is what was
 * sent where a GET after that write has shown the same (it would have dropped the digest, had it not agreed), where
 * the value is still desired and compares as the same, or where it is so letter by letter, the phone also joined.
 */
export function asSent(field: ComparableField, sides: Sides, remembered: Remembered): As {
  const { sent, digests } = remembered
  const { desired, remote } = sides
  const stored = sent[field]
  if (stored === undefined) return 'never'
  if (asSeen(field, sides, remembered) === 'yes') return 'yes'
  const wanted = desired[field]
  if (wanted !== undefined && stored === digests.exact(field, wanted) && sameField(field, desired, remote))
    return 'yes'
  if (spellings(field, remote[field]).some((value) => digests.exact(field, value) === stored)) return 'yes'
  const asPhone = (number: string, prefix: string) =>
    sent.mobile_phone === digests.exact('mobile_phone', number) &&
    [prefix, `+${prefix}`].some(
      (each) => sent.mobile_phone_prefix === digests.exact('mobile_phone_prefix', each),
    )
  return PHONE.includes(field) && joinedAs(remote, asPhone) ? 'yes' : 'no'
}

/** A prefix has four digits at most. */
const PREFIX_LENGTHS = [1, 2, 3, 4]

/** Section 2.6, rule 3: whether the number is one that holds its prefix, and both halves are as they are taken to be. */
function joinedAs(remote: RemoteUser['fields'], are: (number: string, prefix: string) => boolean): boolean {
  const joined = normalForm('mobile_phone', remote.mobile_phone) ?? ''
  const apart = normalForm('mobile_phone_prefix', remote.mobile_phone_prefix)
  return PREFIX_LENGTHS.some((length) => {
    const prefix = joined.slice(0, length)
    return (apart === null || apart === prefix) && are(joined.slice(length), prefix)
  })
}

/** The values that we may have sent, if the service shows them letter by letter: numbers also as text and back. */
function spellings(field: ComparableField, value: unknown): FieldValue[] {
  const form = normalForm(field, value)
  if (form === null) return [null]
  if (typeof value === 'number') return [value, String(value)]
  if (typeof value !== 'string') return []
  if (field === 'gender' && /^\d+$/.test(form)) return [value, Number(form)]
  return PHONE.includes(field) ? [value, form, `+${form}`] : [value]
}
