// The bodies of POST, PUT and PATCH (section 2.6). All that rollcall sends fits them; the sandbox takes nothing else.
import * as z from 'zod'
import { FORMATS } from '../model/formats.ts'
import {
  OPTIONAL_FIELDS,
  type OptionalField,
  STATUSES,
  UNVERIFIABLE_FIELD,
  type UserField,
} from '../model/user.ts'
import { WIRE_KEYWORDS } from './wire-keywords.ts'

const USER_ID = 'a text other than "", "." and ".."'
const userId = z
  .string(USER_ID)
  .refine((id) => id !== '' && id !== '.' && id !== '..' && id.isWellFormed(), USER_ID)
  .meta(WIRE_KEYWORDS.user_id)
const status = z.literal([...STATUSES], FORMATS.status.expected).meta(WIRE_KEYWORDS.status)
const gender = z.literal([0, 1, ''], FORMATS.gender.expected)

/** Null and '' mean that there is no value: only `description` is documented as nullable, all are taken. */
const optional = Object.fromEntries(
  OPTIONAL_FIELDS.map((field) => [
    field,
    (field === 'gender' ? gender : text(field)).nullish().meta(WIRE_KEYWORDS[field]),
  ]),
) as Record<OptionalField, z.ZodOptional<z.ZodNullable<z.ZodType<string | number>>>>

/** Section 4.3: `user_id` and `status` are required. */
export const createBodySchema = z
  .strictObject({ user_id: userId, status, ...optional })
  .meta({ description: 'A user to register (2.6); null or an empty text is no value.' })

/** Sections 4.5 and 4.6: `status` is required on both, `user_id` is in the path and refused in the body. */
export const updateBody = z.strictObject({ status, ...optional }).meta({
  description: 'Fields of a registered user (2.6); null or an empty text takes a value away.',
})

const SHOWN_PHONE = {
  description: 'The prefix followed by the number (2.6, rule 3).',
  examples: ['34600000000'],
}

const shown = Object.fromEntries(
  OPTIONAL_FIELDS.filter((field) => field !== UNVERIFIABLE_FIELD).map((field) => [field, shownField(field)]),
) as Record<Exclude<OptionalField, typeof UNVERIFIABLE_FIELD>, z.ZodNullable<z.ZodType<string | number>>>

/** Section 4.4 as documented: sixteen fields, no `country_code`; texts as they were sent. The client is more lenient. */
export const retrievedUser = z
  .strictObject({ user_id: z.string().meta(about('user_id')), status, ...shown })
  .meta({ description: 'A user as a retrieve shows it (4.4); null where there is no value.' })

function shownField(field: OptionalField): z.ZodNullable<z.ZodType<string | number>> {
  if (field === 'gender') return z.literal([0, 1]).nullable().meta(about(field))
  const value = field === 'birthdate' ? z.string().meta({ format: 'date' }) : z.string()
  return value.nullable().meta(field === 'mobile_phone' ? SHOWN_PHONE : about(field))
}

/** Without the keywords that say what may be sent. */
function about(field: UserField) {
  const { description, examples } = WIRE_KEYWORDS[field]
  return { description, examples: [...(examples ?? [])] }
}

function text(field: OptionalField): z.ZodType<string> {
  const { expected } = FORMATS[field]
  return z.string(expected).refine((value) => fits(field, value), expected)
}

/** FORMATS also reads what columns hold; a date with an hour is no date on the wire. */
function fits(field: OptionalField, value: string): boolean {
  const parsed = FORMATS[field].parse(value)
  return parsed.ok && (field !== 'birthdate' || parsed.value === value || value === '')
}
