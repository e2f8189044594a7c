import { asEscape, OBEYED_IN_JSON } from '../model/obeyed.ts'

/** One JSON document on stdout; bigints as text, and nothing in it that a terminal would obey. */
export function asJson(value: unknown): string {
  const json = JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner), 2)
  return json.replace(OBEYED_IN_JSON, asEscape)
}
