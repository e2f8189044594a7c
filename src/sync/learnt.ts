import { type ComparableField, normalForm } from '../model/normal.ts'
import type { Fields, OptionalField } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import type { CustomerDigests } from './digest.ts'

/**
 * By field: the digest of an acknowledged value, the digest of the other form in which the service showed it, and how
 * often that form came back. Each time the value had been acknowledged once more.
 */
export type Learnt = Readonly<Partial<Record<OptionalField, Returned>>>
type Returned = readonly [exact: string, form: string, times: number]

/** So often must a form have come back before it counts as the service's own. */
const ENOUGH_TIMES = 2

/** Both sides of a user: the desired fields, and those of a GET. */
export type Sides = { readonly desired: Fields; readonly remote: RemoteUser['fields'] }

/**
 * Whether the service shows this value in the form that it has been seen to make of it: acknowledged twice, it came back in
 * the same form twice. Written once more it would come back so again, so it counts as the same. Another value, or
 * another form, is none of it. The status has none: access is never a matter of form.
 */
export function isLearnt(
  field: ComparableField,
  { desired, remote }: Sides,
  learnt: Learnt,
  digests: CustomerDigests,
): boolean {
  const known = learnt[field]
  const wanted = desired[field]
  if (known === undefined || wanted === undefined) return false
  const [exact, form, times] = known
  return (
    times >= ENOUGH_TIMES &&
    exact === digests.exact(field, wanted) &&
    form === digests.ofForm(field, normalForm(field, remote[field]))
  )
}

/** The service has shown the value itself, or has not said that it took it: that is no form of its own. */
export function unlearnt(learnt: Learnt, fields: readonly OptionalField[]): Learnt {
  return Object.fromEntries(
    Object.entries(learnt).filter(([field]) => !fields.some((each) => each === field)),
  )
}

type Returning = { readonly learnt: Learnt; readonly digests: CustomerDigests; readonly exact: string }

/** Once a value that was acknowledged, and is still desired, has come back in another form. */
export function returnedAs(
  field: ComparableField,
  remote: RemoteUser['fields'],
  { learnt, digests, exact }: Returning,
): Learnt {
  const form = digests.ofForm(field, normalForm(field, remote[field]))
  const [before, as, times] = learnt[field] ?? [null, null, 0]
  return { ...learnt, [field]: [exact, form, before === exact && as === form ? times + 1 : 0] }
}
