import { type ComparableField, normalForm } from '../model/normal.ts'
import type { Fields, OptionalField } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import type { CustomerDigests } from './digest.ts'

/** By field: the digest of a desired value, and that of the form in which the service keeps just that value. */
export type Learnt = Readonly<Partial<Record<OptionalField, readonly [exact: string, form: string]>>>

/** Both sides of a user: the desired fields, and those of a GET. */
export type Sides = { readonly desired: Fields; readonly remote: RemoteUser['fields'] }

/**
 * Whether the service shows this value in the form that it has been seen to make of it: written twice, it came back in
 * the same form twice. Written once more it would come back so again, so it counts as the same. Another value, or
 * another form, is none of it.
 */
export function isLearnt(
  field: ComparableField,
  { desired, remote }: Sides,
  learnt: Learnt | undefined,
  digests: CustomerDigests,
): boolean {
  const known = learnt?.[field]
  const wanted = desired[field]
  if (known === undefined || wanted === undefined) return false
  return known[0] === digests.exact(field, wanted) && known[1] === shownForm(field, remote, digests)
}

/** Digest of the form in which a GET shows a field. */
export function shownForm(
  field: ComparableField,
  remote: RemoteUser['fields'],
  digests: CustomerDigests,
): string {
  return digests.ofForm(field, normalForm(field, remote[field]))
}
