// The memory of a customer whose row is gone, and whose personal fields are cleared at the service.
import { OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { UpdateBody } from '../service/client.ts'
import { NO_VALUE, UNKNOWN_VALUE } from './digest.ts'
import type { Memory } from './memory.ts'

/** The fields that a GET showed of a removed customer's user; `country_code` is in no GET. */
export function fieldsShown({ seen }: Pick<Memory, 'seen'>): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => (seen[field] ?? NO_VALUE) !== NO_VALUE)
}

/**
 * At first all of them. Then those that the service refused to clear, and that a lookup has shown since without
 * a second clearing. A service that shows it for ever is not asked a third time.
 */
export function fieldsToErase(
  memory: Pick<Memory, 'erased' | 'sent' | 'seen' | 'refused'>,
): readonly OptionalField[] {
  if (memory.erased === null) return OPTIONAL_FIELDS
  const shown = fieldsShown(memory).filter((field) => memory.sent[field] === undefined)
  const isUnknown = (field: OptionalField) => memory.sent[field] === UNKNOWN_VALUE
  return OPTIONAL_FIELDS.filter(
    (field) => memory.refused[field] !== undefined || shown.includes(field) || isUnknown(field),
  )
}

type Erasing = { readonly body: UpdateBody; readonly fields: readonly OptionalField[] }

/** Nothing is left to compare with; what was cleared a second time, because a lookup had shown it, is marked. */
export function rememberErased(memory: Memory, { fields, body }: Erasing, unclear: boolean): Memory {
  const { erased, refused } = memory
  const again = erased === null ? [] : fields.filter((field) => refused[field] === undefined)
  const unsureFields = unclear ? fields.filter((field) => field !== UNVERIFIABLE_FIELD) : []
  const marks = Object.fromEntries([
    ...again.map((field) => [field, NO_VALUE]),
    ...unsureFields.map((field) => [field, UNKNOWN_VALUE]),
  ])
  return {
    ...memory,
    ...{ remote: 'present', sentStatus: body.status, seenStatus: null, lookedUp: false, erased: 'sent' },
    ...{ sent: erased === null ? marks : { ...memory.sent, ...marks }, seen: {}, refused: {} },
  }
}

/**
 * An erasure that was answered neither yes nor no was not carried out where what it cleared is still shown. A field that the
 * service refused to clear and does not show is empty. A lookup that shows nothing else has verified it.
 */
export function afterErasure({ sent, refused }: Memory, seen: Memory): Memory {
  const left = fieldsShown(seen)
  const stands = ([name]: [string, unknown]) =>
    name === UNVERIFIABLE_FIELD || left.some((field) => field === name)
  const shown = { ...seen, refused: Object.fromEntries(Object.entries(refused).filter(stands)) }
  if (left.some((field) => sent[field] === UNKNOWN_VALUE)) return { ...shown, erased: null, sent: {} }
  const known = Object.entries(sent).filter(
    ([field, mark]) => mark !== UNKNOWN_VALUE || field === UNVERIFIABLE_FIELD,
  )
  return { ...shown, erased: 'verified', sent: Object.fromEntries(known) }
}
