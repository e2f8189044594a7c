// How a user is shown (section 4.4), by what the contract says of each field.
import { FORMATS, joinPhone } from '../../model/formats.ts'
import { type FieldValue, UNVERIFIABLE_FIELD } from '../../model/user.ts'
import type { Contract } from '../contract/contract.ts'
import { DOCUMENTED } from '../contract/dimensions.ts'
import type { StoredUser } from './users.ts'

export type RetrievedForm = Pick<Contract, 'nulls' | 'numbers' | 'email' | 'phone'>

/**
 * The user as GET shows it: sixteen fields, no `country_code`, and by default the prefix in front of the number in
 * `mobile_phone` (section 2.6, rules 1 and 3).
 */
export function retrievedForm(
  user: StoredUser,
  form: RetrievedForm = DOCUMENTED,
): Readonly<Record<string, FieldValue>> {
  const { [UNVERIFIABLE_FIELD]: _unseen, ...fields } = user
  const shown = Object.entries({ ...fields, email: email(user, form), mobile_phone: phone(user, form) })
  return Object.fromEntries(
    shown.flatMap(([field, value]): [string, FieldValue][] => {
      if (value !== null) return [[field, form.numbers === 'text' ? String(value) : value]]
      return form.nulls === 'absent' ? [] : [[field, form.nulls === 'empty' ? '' : null]]
    }),
  )
}

function email({ email: sent }: StoredUser, form: RetrievedForm): FieldValue {
  return form.email === 'lower-case' && typeof sent === 'string' ? sent.toLowerCase() : sent
}

function phone(user: StoredUser, { phone: form }: RetrievedForm): FieldValue {
  const { mobile_phone: number, mobile_phone_prefix: prefix } = user
  if (number === null) return null
  switch (form) {
    case 'joined':
      return `${prefix ?? ''}${number}`
    case 'kept':
      return number
    case 'formatted':
      return formatted(number, prefix)
    default:
      return form satisfies never
  }
}

/** +34 612 345 678, however number and prefix were written; what cannot be read so is shown as it is. */
function formatted(number: FieldValue, prefix: FieldValue): FieldValue {
  const bare = FORMATS.mobile_phone.parse(number)
  const code = FORMATS.mobile_phone_prefix.parse(prefix)
  if (!bare.ok || !code.ok) return number
  const rest = joinPhone(String(bare.value), code.value === null ? null : String(code.value))
  if (!rest.ok) return number
  const groups = rest.value.match(/\d{1,3}/g) ?? []
  return [...(code.value === null ? [] : [`+${code.value}`]), ...groups].join(' ')
}
