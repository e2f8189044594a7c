import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'

/** Deeper or longer than any error that means to be understood. */
const MOST_DEPTH = 6
const MOST_ELEMENTS = 100
const MOST_LETTERS = 2000

/**
 * The fields of section 2.6 that the body of a refusal names, as keys (`{"errors": {"email": …}}`) or in its texts
 * ("nid_number is not valid"). The form of errors is not shown (section 7), so this is a hint and no more: whoever
 * relies on it must do right where it is wrong. Nothing of the body but these names is kept.
 */
export function namedFields(body: unknown): OptionalField[] {
  const texts = textsOf(body, 0).join('\n')
  const words = new Set(texts.toLowerCase().match(/[a-z][a-z_]*/g))
  return OPTIONAL_FIELDS.filter((field) => words.has(field))
}

function textsOf(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value.slice(0, MOST_LETTERS)]
  if (depth === MOST_DEPTH || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.slice(0, MOST_ELEMENTS).flatMap((item) => textsOf(item, depth + 1))
  return Object.entries(value)
    .slice(0, MOST_ELEMENTS)
    .flatMap(([key, inner]) => [key.slice(0, MOST_LETTERS), ...textsOf(inner, depth + 1)])
}
