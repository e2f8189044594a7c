/** DEL and C1, line separators, and what turns the writing round: JSON lets them stand, and a terminal obeys them. */
const OBEYED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** One JSON document on stdout; bigints as text, and nothing in it that a terminal would obey. */
export function asJson(value: unknown): string {
  const json = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner), 2)
  return json.replace(OBEYED, asEscape)
}

/** As JSON and JavaScript write one UTF-16 unit: U+202E as `\u202e`. */
export function asEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
