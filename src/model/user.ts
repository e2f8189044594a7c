/**
 * The user of the Legal Consultation Service in the words of the interface document, section 2.6.
 * A user is found by `user_id`; `status` says whether it has access; the other fifteen fields are optional.
 */

/** 0 = Free (no access), 2 = Premium (full access), 4 = Freemium (a trial that ends at the service). */
export const STATUSES = [0, 2, 4] as const
export type Status = (typeof STATUSES)[number]

/** The optional fields, in the order of section 2.6. */
export const OPTIONAL_FIELDS = [
  'email',
  'nid_number',
  'first_name',
  'last_name',
  'gender',
  'birthdate',
  'mobile_phone',
  'mobile_phone_prefix',
  'coverage_name',
  'contract_number',
  'service_language_code',
  'description',
  'country_code',
  'ml_group_name',
  'md_group_name',
] as const
export type OptionalField = (typeof OPTIONAL_FIELDS)[number]

export const USER_FIELDS = ['user_id', 'status', ...OPTIONAL_FIELDS] as const
export type UserField = (typeof USER_FIELDS)[number]

/** Section 2.6, rule 1: the retrieve response carries every field but this one, so it can be sent but never checked. */
export const UNVERIFIABLE_FIELD = 'country_code' satisfies OptionalField

/** A value as it goes over the wire; null means that the customer has none, which on an update clears it. */
export type FieldValue = string | number | null
export type Fields = Partial<Record<OptionalField, FieldValue>>

/** The user that the mapping makes of a customer: every managed field is present in `fields`, null when empty. */
export type DesiredUser = {
  readonly userId: string
  readonly status: Status
  readonly fields: Readonly<Fields>
}

/** Access is what everything is about: statuses 2 and 4 let a user in. */
export function entitled(status: number): boolean {
  return status === 2 || status === 4
}
