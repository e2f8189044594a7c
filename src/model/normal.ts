// The normal form in which both sides are compared and digested (service interface, section 2.6, rules 1-3).
// Any change of what these functions answer must raise NORMAL_FORM_VERSION: stored digests then count as
// unknown and are refreshed by GETs, instead of showing all customers as changed.
import type { Fields, OptionalField, UNVERIFIABLE_FIELD } from './user.ts'
import { scalarText } from './values.ts'

export const NORMAL_FORM_VERSION = 1

/** The fields that a GET shows. `country_code` is never shown, so it can be neither equal nor different. */
export type ComparableField = Exclude<OptionalField, typeof UNVERIFIABLE_FIELD>

/** A user as a GET shows it; nothing is assumed about the values. */
export type Remote = Readonly<Record<string, unknown>>

/**
 * A value in normal form; null when there is none. The empty string, null and an absent field are alike, since
 * the interface does not say which of them the service keeps. A number and its text are alike for the same
 * reason. Total and idempotent.
 */
export function normalForm(field: OptionalField, value: unknown): string | null {
  const text = asText(value)
  if (text === null) return null
  const normal = text.normalize('NFC').trim()
  const inForm = FIELD_FORMS[field]?.(normal) ?? normal
  return inForm.normalize('NFC').trim() || null
}

/**
 * Whether the service holds what is desired in this field. Phone number and prefix are looked at together: the
 * retrieve sample joins them in `mobile_phone` while the create sample sends them apart (rule 3). The document does
 * not show whether the service always joins.
 */
export function sameField(field: ComparableField, desired: Fields, remote: Remote): boolean {
  if (field === 'mobile_phone') return samePhone(desired, remote)
  const want = normalForm(field, desired[field])
  if (want === normalForm(field, remote[field])) return true
  return field === 'mobile_phone_prefix' && want !== null && prefixIsJoined(desired, remote)
}

/**
 * The form to remember of a GET's value: that of the desired value if both are the same. So a phone number that comes
 * back joined does not differ from the sent one; else that of the remote value.
 */
export function seenForm(field: ComparableField, desired: Fields, remote: Remote): string | null {
  return normalForm(field, sameField(field, desired, remote) ? desired[field] : remote[field])
}

function samePhone(desired: Fields, remote: Remote): boolean {
  const want = phone(desired)
  const held = phone(remote)
  return (
    held.number === want.number ||
    held.number === want.prefix + want.number ||
    held.number === held.prefix + want.number ||
    held.prefix + held.number === want.prefix + want.number
  )
}

/** The remote prefix is empty because the remote number holds it. */
function prefixIsJoined(desired: Fields, remote: Remote): boolean {
  const want = phone(desired)
  const held = phone(remote)
  return held.prefix === '' && held.number === want.prefix + want.number
}

function phone(user: Readonly<Record<string, unknown>>): { prefix: string; number: string } {
  return {
    prefix: normalForm('mobile_phone_prefix', user.mobile_phone_prefix) ?? '',
    number: normalForm('mobile_phone', user.mobile_phone) ?? '',
  }
}

/** Texts of every other field are compared as they stand. */
const FIELD_FORMS: Readonly<Partial<Record<OptionalField, (text: string) => string>>> = {
  email: (text) => text.toLowerCase(),
  service_language_code: (text) => text.toLowerCase(),
  country_code: (text) => text.toUpperCase(),
  nid_number: (text) => withoutSeparators(text).toUpperCase(),
  mobile_phone: digits,
  mobile_phone_prefix: digits,
  birthdate: (text) => (ISO_DATE_TIME.test(text) ? text.slice(0, 10) : text),
}

const ISO_DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]/

/** A text of separators only is kept: it is something, though nothing that was sent by us. */
function withoutSeparators(text: string): string {
  return text.replace(/[\s.\-/]/g, '') || text
}

/** Digits of a phone number in any common notation; anything else is kept, so that it cannot pass for equal. */
function digits(text: string): string {
  const bare = text.replace(/[\s.\-/()+]/g, '').replace(/^(?:00)+/, '')
  return /^\d+$/.test(bare) ? bare : text
}

function asText(value: unknown): string | null {
  // The interface has no objects among the fields; one that comes back all the same differs from every value.
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (scalarText(value) ?? null)
}
