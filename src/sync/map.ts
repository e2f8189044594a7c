import type { Config, FieldSource, Row } from '../config/config.ts'
import { NotListed } from '../config/source.ts'
import { keyParts } from '../customers/key.ts'
import type { Found } from '../customers/read.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type FieldTypes, FORMATS, joinPhone } from '../model/formats.ts'
import { type FieldIssue, type Mapped, userIdOf } from '../model/mapped.ts'
import { type Fields, OPTIONAL_FIELDS, type UserField } from '../model/user.ts'

/** A customer as read: its key and its row, null when there is no such row. */
export type Customer = { readonly key: CustomerKey; readonly row: Row | null }

/**
 * What the configuration makes of a customer. Pure and total: the functions of the configuration may throw,
 * and a row may hold anything, but the answer is always one of four, and no issue holds a value.
 *
 * The `user_id` comes from the key alone, also while the row is there: otherwise a customer could be revoked
 * under another id than it was created with. An invalid optional field is left out of `fields` (so it stays
 * as it is at the service) because access matters more; a field without a value is null in them.
 */
export function mapCustomer(config: Config, { key, row }: Customer): Mapped {
  const id = readUserId(config, key)
  if (!id.ok) return { kind: 'rejected', userId: null, issues: [id.issue] }
  const userId = id.value
  if (row === null) return { kind: 'removed', userId }

  const scope = readScope(config.scope, row)
  if (!scope.ok) return { kind: 'rejected', userId, issues: [scope.issue] }
  if (!scope.value) return { kind: 'out-of-scope', userId }

  const status = readField('status', config.mapping.status, row)
  const { fields, issues } = readFields(config, row)
  if (!status.ok) return { kind: 'rejected', userId, issues: [status.issue, ...issues] }
  if (config.strict && issues.length > 0) return { kind: 'rejected', userId, issues }
  return { kind: 'user', user: { userId, status: status.value, fields }, issues }
}

/** Several rows of the view have this key: which of them is the customer cannot be known. */
const AMBIGUOUS: FieldIssue = { field: 'user_id', code: 'invalid', expected: 'one row for each customer key' }

/** The same for what a read found. */
export function mapFound(config: Config, key: CustomerKey, found: Found): Mapped {
  if (found !== 'ambiguous') return mapCustomer(config, { key, row: found })
  return { kind: 'rejected', userId: userIdOf(mapCustomer(config, { key, row: null })), issues: [AMBIGUOUS] }
}

/** Whether the mapping sets every field that an update can carry, so that a PUT takes nothing from anybody. */
export function isFullyManaged(config: Config): boolean {
  return OPTIONAL_FIELDS.every((field) => config.mapping[field] !== undefined)
}

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issue: FieldIssue }

const PURE = 'a function that answers at once, without an error, from the columns that it names'

function readUserId(config: Config, key: CustomerKey): Result<string> {
  const columns = config.customers.key
  const parts = keyParts(key, columns.length)
  if (parts === null) return failed('user_id', 'invalid', `a customer key of ${columns.length} texts`)
  const row = Object.fromEntries(columns.map((column, index) => [column, parts[index]]))
  return readField('user_id', config.mapping.user_id, row)
}

function readScope(scope: Config['scope'], row: Row): Result<boolean> {
  if (scope === null) return { ok: true, value: true }
  try {
    return { ok: true, value: scope.when(row) }
  } catch {
    return failed('scope', 'function-failed', `${PURE}, with true or false`) // its message may hold a value
  }
}

function readFields(config: Config, row: Row): { fields: Fields; issues: FieldIssue[] } {
  const fields: Fields = {}
  const issues: FieldIssue[] = []
  for (const field of OPTIONAL_FIELDS) {
    const source = config.mapping[field]
    if (source === undefined) continue
    const result = readField(field, source, row)
    if (result.ok) fields[field] = result.value
    else issues.push(result.issue)
  }
  const phone = finishPhone(config.phonePrefix, fields)
  if (!phone.ok) issues.push(phone.issue)
  return { fields, issues }
}

/** Number and prefix can only be written once both are known. */
function finishPhone(style: Config['phonePrefix'], fields: Fields): Result<null> {
  const { mobile_phone: number, mobile_phone_prefix: prefix } = fields
  if (typeof prefix === 'string' && style === 'plus') fields.mobile_phone_prefix = `+${prefix}`
  if (typeof number !== 'string') return { ok: true, value: null }
  const joined = joinPhone(number, typeof prefix === 'string' ? prefix : null)
  if (joined.ok) {
    fields.mobile_phone = joined.value
    return { ok: true, value: null }
  }
  delete fields.mobile_phone
  return failed('mobile_phone', 'invalid', joined.expected)
}

function readField<F extends UserField>(field: F, source: FieldSource, row: Row): Result<FieldTypes[F]> {
  let value: unknown
  try {
    value = source.value(row)
  } catch {
    return failed(field, 'function-failed', PURE) // its message may hold a value
  }
  if (value instanceof NotListed) {
    return failed(field, 'not-in-values', `one of ${value.listed.join(', ')}`)
  }
  const parsed = FORMATS[field].parse(value)
  if (parsed.ok) return parsed
  return failed(field, isNothing(value) ? 'missing' : 'invalid', parsed.expected)
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
}

function failed(
  field: FieldIssue['field'],
  code: FieldIssue['code'],
  expected: string,
): { ok: false; issue: FieldIssue } {
  return { ok: false, issue: { field, code, expected } }
}
