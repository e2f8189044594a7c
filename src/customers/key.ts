import type { CustomerKey } from '../model/customer.ts'

/**
 * The texts of the key columns, in the order of `customers.key`; null when the key does not have that many
 * parts or one of them is NULL.
 *
 * A key may be older than the configuration (written before a key column was added) or hold a NULL (a watched
 * table whose reference is empty). Neither belongs to a customer of ours, and the caller has to say what that
 * means, so this is an answer and not an error.
 */
export function keyParts(key: CustomerKey, count: number): readonly string[] | null {
  if (count === 1) return [key]
  const parts = parsed(key)
  if (!Array.isArray(parts) || parts.length !== count) return null
  return parts.every((part) => typeof part === 'string') ? parts : null
}

/**
 * The key made of its parts, byte for byte as `jsonb_build_array(…)::text` prints it: Postgres puts a space
 * after each comma and escapes inside the texts exactly as JSON.stringify does.
 */
export function keyOf(parts: readonly string[]): CustomerKey {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  return `[${parts.map((part) => JSON.stringify(part)).join(', ')}]`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // not JSON: a key from before the configuration had several key columns
  }
}
