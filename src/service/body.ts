import { z } from 'zod'
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'

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

/** Section 4.4; fields that the document does not know are let pass. */
const retrieved = z.looseObject({
  user_id: scalar.transform(String),
  status: numeric,
})

/**
 * The user in a GET's body, or null when it cannot be believed: no object, another `user_id`, or a `status`
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

const ERROR_KEYS = [
  'error',
  'errors',
  'error_code',
  'errorCode',
  'error_message',
  'errorMessage',
  'exception',
]
const FAILED = new Set(['error', 'fail', 'failed', 'failure'])

/**
 * Whether a readable 2xx body says that the call failed after all. The document shows neither the answers to
 * create and update nor the form of errors (section 7), so this looks for the customary signs; the answer to
 * a write may also be the user itself, whose `status` 0 is no failure.
 */
export function reportsError(value: unknown): boolean {
  if (isFalse(value)) return true
  if (Array.isArray(value)) return value.some((item) => isRecord(item) && reports(item))
  return isRecord(value) && reports(value)
}

function reports(body: Readonly<Record<string, unknown>>): boolean {
  if (ERROR_KEYS.some((key) => Object.hasOwn(body, key) && saysSomething(body[key]))) return true
  if (isFalse(body.success) || isFalse(body.ok)) return true
  if (typeof body.status === 'string' && FAILED.has(body.status.toLowerCase())) return true
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

/** An HTTP status of the error kind, as number or as text. */
function isErrorNumber(value: unknown): boolean {
  const read = numeric.safeParse(value)
  return read.success && read.data >= 400 && read.data < 600
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
