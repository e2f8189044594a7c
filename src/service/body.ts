import * as z from 'zod'
import { OPTIONAL_FIELDS, type OptionalField, STATUSES } from '../model/user.ts'
import { isRecord, words } from '../model/values.ts'

/** A user as a GET showed it: only the fields of section 2.6, each exactly as it came. */
export type RemoteUser = {
  readonly userId: string
  readonly status: number
  readonly fields: Readonly<Partial<Record<OptionalField, unknown>>>
}

const numeric = z.union([
  z.number(),
  z
    .string()
    .regex(/^\s*\d+\s*$/)
    .transform(Number),
])
const scalar = z.union([z.string(), z.number(), z.boolean()])

/** Reads only the `user_id` of a user; unknown fields are let pass. */
const named = z.looseObject({ user_id: scalar.transform(String) })
const retrieved = named.extend({ status: numeric })

/**
 * The user in a GET's body, or null when it is not credible: no object, another `user_id`, or a `status`
 * that is no number (numeric text will do). Without a status nothing could be said about access, which is
 * what everything is about. The other fields may be absent, null or ''; what they mean is for the comparison.
 */
export function readUser(value: unknown, userId: string): RemoteUser | null {
  const read = retrieved.safeParse(value)
  if (!read.success || read.data.user_id !== userId) return null
  const fields: Partial<Record<OptionalField, unknown>> = {}
  for (const field of OPTIONAL_FIELDS) {
    if (Object.hasOwn(read.data, field)) fields[field] = read.data[field]
  }
  return { userId, status: read.data.status, fields }
}

/** Whether the answer to a write is another user, or has another status: it may show what was there before. */
export function contradicts(value: unknown, userId: string, status: number): boolean {
  const read = named.safeParse(value)
  if (!read.success) return false
  if (read.data.user_id !== userId) return true
  const shown = numeric.safeParse(read.data.status)
  // Some tell the HTTP status in it.
  return shown.success && shown.data !== status && STATUSES.some((known) => known === shown.data)
}

/** In lower case. */
const ERROR_KEYS = new Set(words('error errors error_code errorcode error_message errormessage exception'))
const FAILED = new Set(
  words(`error fail failed failure ko nok ng not_found not-found notfound denied forbidden rejected refused invalid
    unauthorized`),
)
/** Beyond these many elements of a list one more tells nothing. */
const MOST_ELEMENTS = 100

/**
 * Whether a readable 2xx body says that the call failed after all. The document shows neither the answers to
 * create and update nor the form of errors (section 7), so this looks for the customary signs; the answer to
 * a write may also be the user itself, whose `status` 0 is no failure.
 */
export function reportsError(value: unknown): boolean {
  if (isFalse(value)) return true
  if (Array.isArray(value))
    return value.slice(0, MOST_ELEMENTS).some((item) => isRecord(item) && reports(item))
  return isRecord(value) && reports(value)
}

function reports(body: Readonly<Record<string, unknown>>): boolean {
  const says = Object.keys(body).some((key) => ERROR_KEYS.has(key.toLowerCase()) && saysSomething(body[key]))
  if (says || [body.success, body.ok, body.result].some(isNo)) return true
  if ([body.status, body.result].some((word) => typeof word === 'string' && FAILED.has(word.toLowerCase())))
    return true
  return [body.code, body.status, body.statusCode, body.status_code].some(isErrorNumber)
}

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isRecord(value)) return Object.keys(value).length > 0
  return Boolean(value) && !isFalse(value) && value !== '0'
}

function isFalse(value: unknown): boolean {
  return value === false || (typeof value === 'string' && value.toLowerCase() === 'false')
}

function isNo(value: unknown): boolean {
  return isFalse(value) || value === 0 || (typeof value === 'string' && /^(?:0|no)$/i.test(value))
}

function isErrorNumber(value: unknown): boolean {
  if (typeof value !== 'number' && !(typeof value === 'string' && /^\s*\d{3}\s*$/.test(value))) return false
  return Number(value) >= 400 && Number(value) < 600
}
