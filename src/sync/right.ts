import { type ComparableField, normalForm } from '../model/normal.ts'
import {
  type DesiredUser,
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { type CustomerDigests, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'

export type FieldDigests = Readonly<Partial<Record<OptionalField, string>>>

/** The remote user's fields, as far as they are remembered. */
export type KnownFields = {
  /** The status that was last acknowledged, and the one that the last GET showed since. */
  readonly sentStatus: number | null
  readonly seenStatus: number | null
  readonly sent: FieldDigests
  readonly seen: FieldDigests
  readonly refused: FieldDigests
}

/** Two fields that are one thing: a GET may show the number joined with its prefix (section 2.6, rule 3). */
export const PHONE: readonly OptionalField[] = ['mobile_phone', 'mobile_phone_prefix']

/** Known, and neither what was acknowledged nor what was seen since speaks against it. */
export function fieldIsRight(
  field: OptionalField,
  user: DesiredUser,
  memory: Pick<KnownFields, 'sent' | 'seen'>,
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
export function statusIsRight(
  status: Status,
  memory: Pick<KnownFields, 'sentStatus' | 'seenStatus'>,
): boolean {
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
  { refused }: Pick<KnownFields, 'refused'>,
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
export function fieldsShown({ seen }: Pick<KnownFields, 'seen'>): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => (seen[field] ?? NO_VALUE) !== NO_VALUE)
}

/**
 * Fields of an erased customer that the service refused to clear, and those that a lookup has shown since without
 * a second clearing. A service that shows it for ever is not asked a third time.
 */
export function fieldsToClearAgain(memory: Pick<KnownFields, 'sent' | 'seen' | 'refused'>): OptionalField[] {
  const shown = fieldsShown(memory).filter((field) => memory.sent[field] === undefined)
  const isUnknown = (field: OptionalField) => memory.sent[field] === UNKNOWN_VALUE
  return OPTIONAL_FIELDS.filter(
    (field) => memory.refused[field] !== undefined || shown.includes(field) || isUnknown(field),
  )
}

/** Fields that the mapping does not set and that hold a value at the service, seen there or once sent by us. */
export function unmanagedOf(
  user: DesiredUser,
  { sent, seen }: Pick<KnownFields, 'sent' | 'seen'>,
): OptionalField[] {
  return OPTIONAL_FIELDS.filter(
    (field) => user.fields[field] === undefined && (seen[field] ?? sent[field] ?? NO_VALUE) !== NO_VALUE,
  )
}

/**
 * By field: the digest of an acknowledged value, the digest of the other form in which the service showed it, and how
 * often it came back again. Each time the value had been acknowledged once more.
 */
export type ObservedForms = Readonly<Partial<Record<OptionalField, Returned>>>
type Returned = readonly [exact: string, form: string, times: number]

/** So often must a form have come back again before it counts as the service's own. */
const ENOUGH_TIMES = 2

/** Both sides of a user: the desired fields, and those of a GET. */
export type Sides = { readonly desired: Fields; readonly remote: RemoteUser['fields'] }

/**
 * Whether the service shows this value in the form that it has been seen to make of it: acknowledged twice more, it came back
 * in the same form twice more. Written again it would come back so again, so it counts as the same. Another value, or
 * another form, is none of it. The status has none: access is never a matter of form.
 */
export function isOwnForm(
  field: ComparableField,
  { desired, remote }: Sides,
  observedForms: ObservedForms,
  digests: CustomerDigests,
): boolean {
  const known = observedForms[field]
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
export function withoutForms(observedForms: ObservedForms, fields: readonly OptionalField[]): ObservedForms {
  return Object.fromEntries(
    Object.entries(observedForms).filter(([field]) => !fields.some((each) => each === field)),
  )
}

type Returning = {
  readonly observedForms: ObservedForms
  readonly digests: CustomerDigests
  readonly exact: string
}

/** Once a value that was acknowledged, and is still desired, has come back in another form. */
export function returnedAs(
  field: ComparableField,
  remote: RemoteUser['fields'],
  { observedForms, digests, exact }: Returning,
): ObservedForms {
  const form = digests.ofForm(field, normalForm(field, remote[field]))
  const [before, as, times] = observedForms[field] ?? [null, null, 0]
  return { ...observedForms, [field]: [exact, form, before === exact && as === form ? times + 1 : 0] }
}
