/** One JSON document on stdout; bigints as text. */
export function asJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner), 2)
}
