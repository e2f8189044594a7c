import type { Config, FieldSource, Row } from '../config/config.ts'
import { NotListed, TooLarge } from '../config/source.ts'
import { InvalidTimedAnswer, TimedAnswer } from '../config/until.ts'
import { keyParts } from '../customers/key.ts'
import type { FoundRow } from '../customers/read.ts'
import type { CustomerKey, FieldIssue, Validity } from '../model/customer.ts'
import { type FieldTypes, FORMATS, joinPhone } from '../model/formats.ts'
import { type DesiredUser, type Fields, OPTIONAL_FIELDS, type UserField } from '../model/user.ts'

/** A customer as read: its key and its row, null when there is no such row. `now` is the database's time. */
export type Customer = { readonly key: CustomerKey; readonly row: Row | null; readonly now: Date }

/**
 * The result of mapping a customer. `removed`: there is no such row; `out-of-scope`: not ours to entitle. `spared`: its user
 * is treated as out of scope, or its fields are not erased; see sync/sharing.ts.
 */
export type Mapped =
  | ({ readonly kind: 'user'; readonly user: DesiredUser; readonly issues: readonly FieldIssue[] } & Validity)
  | { readonly kind: 'removed'; readonly userId: string; readonly spared?: 'user' | 'fields' }
  | ({ readonly kind: 'out-of-scope'; readonly userId: string } & Validity)
  | ({
      readonly kind: 'rejected'
      readonly userId: string | null
      readonly issues: readonly FieldIssue[]
    } & Validity)

export function validUntilOf(mapped: Mapped): number | null {
  return mapped.kind === 'removed' ? null : (mapped.validUntilMs ?? null)
}

export function isOutOfScope(mapped: Mapped): boolean {
  return mapped.kind === 'out-of-scope' || (mapped.kind === 'removed' && mapped.spared === 'user')
}

export function userIdOf(mapped: Mapped): string | null {
  return mapped.kind === 'user' ? mapped.user.userId : mapped.userId
}

/**
 * Maps a customer by the configuration. Pure and total: the functions of the configuration may
 * throw, and a row may hold anything. The answer is always one of four, and no issue holds a value.
 *
 * The `user_id` comes from the key alone, also while the row is there: otherwise a customer could be revoked under
 * another id than it was created with. An invalid optional field is left out of `fields` (so it stays as it is at the
 * service) because access matters more; a field without a value is null in them.
 *
 * An answer holds as long as every part of it that a function gave for a time; a value that is invalid is a part too,
 * since the next one may be right. Plain: the last line, without issues and times.
 */
export function mapCustomer(config: Config, { key, row, now }: Customer): Mapped {
  const id = readUserId(config, key)
  if (!id.ok) return { kind: 'rejected', userId: null, issues: [id.issue] }
  const userId = id.value
  if (row === null) return { kind: 'removed', userId }

  const inputs = { row, now }
  const scope = readScope(config.scope, inputs)
  if (!scope.ok) return { kind: 'rejected', userId, issues: [scope.issue] }
  if (!scope.value) return { kind: 'out-of-scope', userId, ...validUntil(scope.untilMs) }

  const status = readField('status', config.mapping.status, inputs)
  const { fields, issues, untilMs } = readFields(config, inputs)
  const holds = validUntil(Math.min(scope.untilMs, status.untilMs, untilMs))
  if (!status.ok) return { kind: 'rejected', userId, issues: [status.issue, ...issues], ...holds }
  if (config.strict && issues.length > 0) return { kind: 'rejected', userId, issues, ...holds }
  return { kind: 'user', user: { userId, status: status.value, fields }, issues, ...holds }
}

/** Several rows of the view have this key: which of them is the customer cannot be known. */
const AMBIGUOUS: FieldIssue = {
  field: 'user_id',
  code: 'several-rows',
  expected: 'one row for the customer key, but there are several',
}

/** `mapCustomer` for what a read found. */
export function mapFound(config: Config, key: CustomerKey, found: FoundRow, now: Date): Mapped {
  if (found !== 'ambiguous') return mapCustomer(config, { key, row: found, now })
  return { kind: 'rejected', userId: userIdFor(config, key), issues: [AMBIGUOUS] }
}

/** Known without the row; null when the key makes none. */
export function userIdFor(config: Config, key: CustomerKey): string | null {
  const id = readUserId(config, key)
  return id.ok ? id.value : null
}

type FieldResult<T> = { readonly untilMs: number } & (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issue: FieldIssue }
)

/** An answer without a time holds until a change. */
const UNTIL_CHANGE = Number.POSITIVE_INFINITY

function validUntil(untilMs: number): Validity {
  return untilMs === UNTIL_CHANGE ? {} : { validUntilMs: untilMs }
}

/** Without `now` no function can go by the time. */
type Inputs = { readonly row: Row; readonly now?: Date }

const PURE = 'a function that reads only its `columns`, throws no error and returns'

/** The words of an error of its own may hold a value. */
function failureOf(error: unknown, pure: string): string {
  return error instanceof InvalidTimedAnswer ? error.expected : pure
}

function readUserId(config: Config, key: CustomerKey): FieldResult<string> {
  const columns = config.customers.key
  const parts = keyParts(key, columns.length)
  if (parts === null) return failed('user_id', 'invalid', `a customer key of ${columns.length} texts`)
  const row = Object.fromEntries(columns.map((column, index) => [column, parts[index]]))
  return readField('user_id', config.mapping.user_id, { row })
}

function readScope(scope: Config['scope'], { row, now }: Required<Inputs>): FieldResult<boolean> {
  if (scope === null) return { ok: true, value: true, untilMs: UNTIL_CHANGE }
  const tooLarge = findTooLarge(scope.columns, row)
  if (tooLarge) return failed('scope', 'invalid', smaller(tooLarge))
  try {
    return { ok: true, ...opened(scope.when(row, now)) }
  } catch (error) {
    return failed('scope', 'function-failed', failureOf(error, `${PURE} true or false, no promise`))
  }
}

type Read = { readonly fields: Fields; readonly issues: FieldIssue[]; readonly untilMs: number }

function readFields(config: Config, inputs: Inputs): Read {
  const fields: Fields = {}
  const issues: FieldIssue[] = []
  let untilMs = UNTIL_CHANGE
  for (const field of OPTIONAL_FIELDS) {
    const source = config.mapping[field]
    if (source === undefined) continue
    const result = readField(field, source, inputs)
    untilMs = Math.min(untilMs, result.untilMs)
    if (result.ok) fields[field] = result.value
    else issues.push(result.issue)
  }
  const phone = finishPhone(config.phonePrefix, fields)
  if (phone) issues.push(phone)
  return { fields, issues, untilMs }
}

/** Number and prefix can only be written once both are known; an issue when they do not fit. */
function finishPhone(style: Config['phonePrefix'], fields: Fields): FieldIssue | null {
  const { mobile_phone: number, mobile_phone_prefix: prefix } = fields
  if (typeof prefix === 'string' && style === 'plus') fields.mobile_phone_prefix = `+${prefix}`
  if (typeof number !== 'string') return null
  const joined = joinPhone(number, typeof prefix === 'string' ? prefix : null)
  if (joined.ok) {
    fields.mobile_phone = joined.value
    return null
  }
  delete fields.mobile_phone
  return { field: 'mobile_phone', code: 'invalid', expected: joined.expected }
}

function readField<F extends UserField>(
  field: F,
  source: FieldSource,
  { row, now }: Inputs,
): FieldResult<FieldTypes[F]> {
  const tooLarge = findTooLarge(source.columns, row)
  if (tooLarge) return failed(field, 'invalid', smaller(tooLarge))
  let answer: unknown
  try {
    answer = source.value(row, now)
  } catch (error) {
    return failed(field, 'function-failed', failureOf(error, `${PURE} a value, no promise`))
  }
  const { value, untilMs } = opened(answer)
  if (value instanceof NotListed) {
    return failed(field, 'not-in-values', `one of ${value.listed.join(', ')}`)
  }
  const parsed = FORMATS[field].parse(value)
  if (parsed.ok) return { ...parsed, untilMs }
  return { ...failed(field, isNothing(value) ? 'missing' : 'invalid', parsed.expected), untilMs }
}

function findTooLarge(columns: readonly string[], row: Row): TooLarge | undefined {
  return columns.map((column) => row[column]).find((value) => value instanceof TooLarge)
}

function smaller({ mostBytes }: TooLarge): string {
  return `a column value of at most ${mostBytes} bytes`
}

function opened<T>(answer: T | TimedAnswer<T>): { readonly value: T; readonly untilMs: number } {
  return answer instanceof TimedAnswer ? answer : { value: answer, untilMs: UNTIL_CHANGE }
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (typeof value === 'string' && value.trim() === '')
}

function failed(
  field: FieldIssue['field'],
  code: FieldIssue['code'],
  expected: string,
): { ok: false; issue: FieldIssue; untilMs: number } {
  return { ok: false, issue: { field, code, expected }, untilMs: UNTIL_CHANGE }
}
