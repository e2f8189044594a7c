// The checks of schema.ts in the words of JSON Schema, for the OpenAPI document. Checks are code and a schema cannot
// carry them, so they are said a second time here; a test holds the two together. A format of our own stands for what
// no pattern can tell: the letter of a DNI, the codes that there are.
import type { UserField } from '../model/user.ts'

/** Keywords that are put into the JSON Schema of a field as they stand. */
type WireKeywords = { readonly description: string; readonly examples?: readonly unknown[] } & Readonly<
  Record<string, unknown>
>

const WELL_FORMED = '^[^\\u0000\\ud800-\\udfff]*$'

/** `null` and '' take a value away. */
const NOTHING = { enum: ['', null] }

/** Beyond the format: a name of at most 64 characters, and a domain whose end is no number. */
const EMAIL = '^.{1,64}@[^@]*[.](?![0-9]+$)[^.@]+$'

/** The plain form, which rollcall sends. The sandbox also takes white space around a value, and separators in numbers. */
export const WIRE_KEYWORDS: Readonly<Record<UserField, WireKeywords>> = {
  user_id: {
    description:
      "The integrator's own unique identifier of the user (2.6). Not `.` or `..`, which lead to another path.",
    minLength: 1,
    pattern: '^[^\\ud800-\\udfff]*$',
    not: { enum: ['.', '..'] },
    examples: ['customer-1042'],
  },
  status: {
    description:
      '0 = Free (no access), 2 = Premium (full access), 4 = Freemium (a trial for a period configured in advance).',
    examples: [2],
  },
  email: {
    description: 'A valid e-mail address.',
    anyOf: [{ type: 'string', format: 'idn-email', maxLength: 254, pattern: EMAIL }, NOTHING],
    examples: ['ana@correo.example'],
  },
  nid_number: {
    description:
      'A valid national identity number: a DNI (8 digits and a letter) or NIE (X, Y or Z, 7 digits and a letter), ' +
      'whose letter fits the number. Separators and lower case are taken too.',
    anyOf: [
      {
        type: 'string',
        format: 'dni-nie',
        pattern: '^([0-9]{8}|[XYZ][0-9]{7})[A-HJ-NP-TV-Z]$',
      },
      NOTHING,
    ],
    examples: ['12345678Z'],
  },
  first_name: text('First name.', 'Ana'),
  last_name: text('Last name.', 'Ejemplo Muestra'),
  gender: {
    description: '0 = Male, 1 = Female. Gives the professional more information.',
    anyOf: [{ type: 'integer', enum: [0, 1] }, NOTHING],
    examples: [1],
  },
  birthdate: {
    description: 'A calendar date, YYYY-MM-DD, without an hour.',
    anyOf: [{ type: 'string', format: 'date', pattern: '^(?!0000)' }, NOTHING],
    examples: ['1984-02-29'],
  },
  mobile_phone: {
    description:
      'A mobile phone number of 4 to 15 digits, without the prefix (as the create sample has it). Spaces, dots, ' +
      'hyphens and brackets between the digits are taken too. A retrieve shows it with the prefix before it (2.6, rule 3).',
    pattern: '^((\\+|00)[0-9]{4,15}|(0[1-9]|[1-9][0-9])[0-9]{2,13})?$',
    examples: ['600000000'],
  },
  mobile_phone_prefix: {
    description: 'A mobile phone prefix of 1 to 4 digits.',
    pattern: '^((\\+|00)?[1-9][0-9]{0,3})?$',
    examples: ['34'],
  },
  coverage_name: text(
    'Plan information: a group, a contract type, or any value used to group and filter users.',
    'gold',
  ),
  contract_number: text(
    "Contract number, or any id that links the user to the integrator's platform.",
    'C-1042',
  ),
  service_language_code: {
    description: 'An ISO 639-1 language code.',
    anyOf: [{ type: 'string', format: 'iso-639-1' }, NOTHING],
    examples: ['es'],
  },
  description: text(
    'Extra information from the integrator; not visible to end users.',
    'Called about a lease.',
  ),
  country_code: {
    description:
      'An ISO 3166-1 alpha-2 country code, in either case (2.6, rule 2). A retrieve does not show it (2.6, rule 1).',
    anyOf: [{ type: 'string', format: 'iso-3166-1' }, NOTHING],
    examples: ['ES'],
  },
  ml_group_name: text("The user's group; used to show or hide a subset of professionals.", 'north'),
  md_group_name: text("The user's group on a sister medical platform.", 'm1'),
}

/** NUL ends a text in too many places, and half a surrogate pair is no text in UTF-8: both are refused. */
function text(description: string, example: string): WireKeywords {
  return { description, pattern: WELL_FORMED, examples: [example] }
}
