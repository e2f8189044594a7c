import type { LedgerRecord } from '../ledger/record.ts'
import {
  type DesiredUser,
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../model/user.ts'
import { type CustomerDigests, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'

/** Two fields that are one thing: a GET may show the number joined with its prefix (section 2.6, rule 3). */
export const PHONE: readonly OptionalField[] = ['mobile_phone', 'mobile_phone_prefix']

/** Known, and neither what was acknowledged nor what was seen since speaks against it. */
export function fieldIsRight(
  field: OptionalField,
  user: DesiredUser,
  memory: Pick<LedgerRecord, 'sent' | 'seen'>,
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
  memory: Pick<LedgerRecord, 'sentStatus' | 'seenStatus'>,
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
  { refused }: Pick<LedgerRecord, 'refused'>,
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
export function fieldsShown({ seen }: Pick<LedgerRecord, 'seen'>): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => (seen[field] ?? NO_VALUE) !== NO_VALUE)
}

/**
 * Fields of an erased customer that the service refused to clear, and those that a lookup has shown since without
 * a second clearing. A service that shows it for ever is not asked a third time.
 */
export function fieldsToClearAgain(memory: Pick<LedgerRecord, 'sent' | 'seen' | 'refused'>): OptionalField[] {
  const shown = fieldsShown(memory).filter((field) => memory.sent[field] === undefined)
  const isUnknown = (field: OptionalField) => memory.sent[field] === UNKNOWN_VALUE
  return OPTIONAL_FIELDS.filter(
    (field) => memory.refused[field] !== undefined || shown.includes(field) || isUnknown(field),
  )
}

/** Fields that the mapping does not set and that hold a value at the service, seen there or once sent by us. */
export function unmanagedOf(
  user: DesiredUser,
  { sent, seen }: Pick<LedgerRecord, 'sent' | 'seen'>,
): OptionalField[] {
  return OPTIONAL_FIELDS.filter(
    (field) => user.fields[field] === undefined && (seen[field] ?? sent[field] ?? NO_VALUE) !== NO_VALUE,
  )
}
