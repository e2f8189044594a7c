import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import { words } from '../model/values.ts'

/** Deeper or longer than any error that means to be understood. */
const MOST_DEPTH = 6
const MOST_ELEMENTS = 100
const MOST_LETTERS = 2000

/** In lower case: whose keys are the fields that are wrong, and whose texts name them. */
const CONTAINERS = new Set(
  words(`error errors fields field_errors fielderrors invalid validation invalid_params validation_errors violations
    details`),
)
const POINTERS = new Set(words('field fields param parameter path pointer property loc location'))
/** Keys for what was sent: names below them do not tell what is wrong. */
const REPEATS = new Set(words('request input sent received payload body example examples help'))

type Found = { readonly pointed: string[]; readonly said: string[]; readonly maybe: string[] }

/**
 * The fields of section 2.6 that the body of a refusal names: as keys of its errors (`{"errors": {"email": …}}`), where
 * it points (`{"field": "email"}`), or else in its texts ("nid_number is not valid"), in snake or camel case. The form of
 * errors is not shown (section 7), so this is a hint and no more: code that relies on it must do right where it is
 * wrong. Nothing of the body but these names is kept.
 */
export function namedFields(body: unknown): OptionalField[] {
  const found = wordsIn(body)
  const pointed = fieldsIn(found.pointed)
  if (pointed.length > 0) return pointed
  const said = fieldsIn(found.said)
  // "email" and "description" are also plain words; a name that is none is meant before
  // them. A conflict may be about each field that it names.
  const plain = said.filter((field) => field.includes('_'))
  if (plain.length > 0 && !saysConflict(body)) return plain
  return said.length > 0 ? said : fieldsIn(found.maybe)
}

/** In lower case: what codes and messages say of a value that another user has, in English and Spanish. */
const CONFLICTS =
  /(?<![a-z])(?:taken|duplicated?|already|exists|in[ _-]use|unique|uniqueness|[uú]nic[oa]|conflict|ya[ _](?:ha|est[aá]|existe|fue|se)|en[ _]uso|duplicad[oa]|another[ _]user|otro[ _]usuario)(?![a-z])/
const NO_CONFLICT = /expired|caducad|no longer|deleted|passed/

/** Whether the body of a refusal says that another user has what was sent; a hint as well. */
export function saysConflict(body: unknown): boolean {
  const { pointed, said } = wordsIn(body)
  return snake([...pointed, ...said])
    .split('\n')
    .some((text) => CONFLICTS.test(text) && !NO_CONFLICT.test(text))
}

function wordsIn(body: unknown): Found {
  const found: Found = { pointed: [], said: [], maybe: [] }

  function collect(value: unknown, depth: number, at = ''): void {
    if (typeof value === 'string')
      (POINTERS.has(at) ? found.pointed : found.said).push(value.slice(0, MOST_LETTERS))
    if (depth === MOST_DEPTH || typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const item of value.slice(0, MOST_ELEMENTS)) collect(item, depth + 1, at)
      return
    }
    for (const [key, inner] of Object.entries(value).slice(0, MOST_ELEMENTS)) {
      const name = key.slice(0, MOST_LETTERS)
      const lower = name.toLowerCase()
      if (REPEATS.has(lower)) continue
      // Django lists the errors of each field under its name, without a container.
      const listed = depth === 0 && Array.isArray(inner) && inner.length > 0
      // The description of the error, or the name of the field `description`.
      const maybe = lower === 'description' && (listed || typeof inner === 'string')
      if (CONTAINERS.has(at) || listed) (maybe ? found.maybe : found.pointed).push(name)
      collect(inner, depth + 1, lower)
    }
  }

  collect(body, 0)
  return found
}

function fieldsIn(texts: readonly string[]): OptionalField[] {
  const written = new Set(snake(texts).match(/[a-z][a-z_]*/g))
  return OPTIONAL_FIELDS.filter((field) => written.has(field))
}

/** In lower case, words in capitals set apart. */
function snake(texts: readonly string[]): string {
  return texts
    .join('\n')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
}
