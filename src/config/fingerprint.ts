import { createHash } from 'node:crypto'

/** Raised when a later rollcall makes something else of the same customer and the same configuration. */
const OWN_VERSION = 1

/**
 * Tells whether two configurations make the same calls of the same customer: everything that mapping and plan go by,
 * functions by their text. What a function takes from elsewhere in its module does not show; `mappingVersion` is
 * there for that.
 */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify([OWN_VERSION, canonical(parts)])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** Keys in one order, since the order in which an author writes them says nothing. */
function canonical(value: unknown): unknown {
  if (typeof value === 'function') return { function: String(value) }
  if (typeof value === 'bigint') return { bigint: String(value) }
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([k, inner]) => [k, canonical(inner)]),
  )
}
