// The values that a field of the service interface, section 2.6, may hold, and how they are written on the wire.
// Each by its file: to load them all would take 18 ms of every command.
import isDate from 'validator/lib/isDate.js'
import isEmail from 'validator/lib/isEmail.js'
import isIdentityCard from 'validator/lib/isIdentityCard.js'
import isISO6391 from 'validator/lib/isISO6391.js'
import isISO31661Alpha2 from 'validator/lib/isISO31661Alpha2.js'
import { type FieldValue, STATUSES, type Status, type UserField } from './user.ts'
import { scalarText } from './values.ts'

/** `expected` says what would have been right and never holds the value, so that it may be stored and shown. */
type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly expected: string }

/** The value as it goes over the wire. Only `user_id` and `status` must have one; null is no value. */
export type FieldTypes = Record<UserField, FieldValue> & { user_id: string; status: Status }

type Format<T> = { readonly expected: string; readonly parse: (value: unknown) => Parsed<T> }

/**
 * The longest text of a field, in bytes of UTF-8. With this in every text field, a GET stays within the 1 MiB that
 * the client reads, also if the service escapes every letter.
 */
export const MOST_FIELD_BYTES = 8192

/**
 * One format for each of the 17 fields. All trim and take '' for no value; text keeps everything else that the
 * integrator wrote. The phone number keeps a leading + or 00 here, because only who knows the prefix can tell
 * what it stands for (see joinPhone).
 */
export const FORMATS: { readonly [F in UserField]: Format<FieldTypes[F]> } = {
  user_id: required(
    'a text of 1 to 255 characters, other than "." and "..", without control characters',
    (text) =>
      text.length <= MAX_USER_ID && text !== '.' && text !== '..' && !CONTROL.test(text) ? text : undefined,
  ),
  status: required('0, 2 or 4', (text) => STATUSES.find((status) => String(status) === text)),
  email: optional('an e-mail address', (text) => (isEmail.default(text) ? text : undefined)),
  nid_number: optional('a DNI or NIE with the right letter', nid),
  first_name: plainText(),
  last_name: plainText(),
  gender: optional('0 (male) or 1 (female)', (text) => (/^[01]$/.test(text) ? Number(text) : undefined)),
  birthdate: optional('a calendar date, YYYY-MM-DD', calendarDate),
  mobile_phone: optional('a phone number of 4 to 15 digits', phoneNumber),
  mobile_phone_prefix: optional('a phone prefix of 1 to 4 digits, like 34 or +34', phonePrefix),
  coverage_name: plainText(),
  contract_number: plainText(),
  service_language_code: optional('an ISO 639-1 language code, like es', (text) =>
    isISO6391.default(text.toLowerCase()) ? text.toLowerCase() : undefined,
  ),
  description: plainText(),
  country_code: optional('an ISO 3166-1 alpha-2 country code, like ES', (text) =>
    /^[a-z]{2}$/i.test(text) && isISO31661Alpha2.default(text) ? text.toUpperCase() : undefined,
  ),
  ml_group_name: plainText(),
  md_group_name: plainText(),
}

/**
 * The number as it is sent beside its prefix: digits only, and never with the prefix in it. A GET may show both
 * joined (section 2.6, rule 3), and a number with its prefix twice reaches no phone. A number in international form (+ or
 * 00) must therefore carry the very prefix that is sent; without a prefix to send it keeps its own.
 *
 * @param number as FORMATS.mobile_phone gives it
 * @param prefix digits, or null when none is sent
 */
export function joinPhone(number: string, prefix: string | null): Parsed<string> {
  const international = /^(?:\+|00)(\d+)$/.exec(number)?.[1]
  if (international === undefined) return { ok: true, value: number }
  if (prefix === null) return { ok: true, value: international }
  const rest = international.startsWith(prefix) ? international.slice(prefix.length) : ''
  return rest.length >= MIN_DIGITS
    ? { ok: true, value: rest }
    : {
        ok: false,
        expected: 'a number without international prefix, or with the same prefix as in mobile_phone_prefix',
      }
}

const MAX_USER_ID = 255
const MIN_DIGITS = 4
const MAX_DIGITS = 15
const CONTROL = /\p{Cc}/u

/** DNI: 8 digits and a letter; NIE: X, Y or Z, 7 digits and a letter. */
function nid(text: string): string | undefined {
  const bare = text.replace(/[\s.\-/]/g, '').toUpperCase()
  return isIdentityCard.default(bare, 'ES') ? bare : undefined
}

/** Midnight is how a timestamp column shows a date; any other hour would make the day depend on a zone. */
const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/

function calendarDate(text: string): string | undefined {
  const date = DATE.exec(text)?.[1]
  if (date === undefined || date.startsWith('0000')) return undefined
  return isDate.default(date, { format: 'YYYY-MM-DD', strictMode: true }) ? date : undefined
}

function phoneNumber(text: string): string | undefined {
  const bare = text.replace(/[\s.\-()]/g, '')
  const digits = /^(?:\+|00)?(\d+)$/.exec(bare)?.[1] ?? ''
  return digits.length >= MIN_DIGITS && digits.length <= MAX_DIGITS ? bare : undefined
}

function phonePrefix(text: string): string | undefined {
  return /^(?:\+|00)?([1-9]\d{0,3})$/.exec(text)?.[1]
}

function plainText(): Format<string | null> {
  return optional(`a text of at most ${MOST_FIELD_BYTES} bytes`, (text) =>
    Buffer.byteLength(text) <= MOST_FIELD_BYTES ? text : undefined,
  )
}

function optional<T>(expected: string, read: (text: string) => T | undefined): Format<T | null> {
  return format<T, null>(expected, read, { ok: true, value: null })
}

function required<T>(expected: string, read: (text: string) => T | undefined): Format<T> {
  return format<T, never>(expected, read, { ok: false, expected })
}

function format<T, N>(expected: string, read: (text: string) => T | undefined, none: Parsed<N>) {
  const parse = (value: unknown): Parsed<T | N> => {
    if (value === null || value === undefined) return none
    const text = asText(value)?.trim()
    if (text === '') return none
    const result = text === undefined ? undefined : read(text)
    return result === undefined ? { ok: false, expected } : { ok: true, value: result }
  }
  return { expected, parse }
}

/** Half a surrogate pair cannot be written as UTF-8, and NUL ends a text in too many places. */
function asText(value: unknown): string | undefined {
  const text = scalarText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined
  return text?.isWellFormed() && !text.includes('\0') ? text : undefined
}
