// Keys as people write them, brought into the text that the tables know. `04711` and `4711` are one integer, and
// `["ES","4711"]` one key with or without the space: taken as it was typed, such a key would have no row.
import pg from 'pg'
import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { CustomersShape } from './describe.ts'
import { jsonArray, keyOf, readable, textSql } from './key.ts'

/**
 * The key that a text means, or null when the key columns cannot hold it. Postgres itself reads each part as its
 * column's type and prints it again, so that there is no second idea of what a type takes. The cast is to the type
 * without its length or scale: a cast to varchar(3) would cut a longer text off, and that is another customer.
 */
export async function readGiven(
  client: Client,
  { key }: CustomersShape,
  given: string,
): Promise<CustomerKey | null> {
  const parts = key.length === 1 ? [given] : partsGiven(given, key.length)
  if (!parts?.every((part) => part.isWellFormed() && !part.includes('\0'))) return null
  try {
    // Without a type of its own a parameter is read by the input function: there may be a cast from text.
    const texts = key.map((column, at) => textSql(column, `$${at + 1}::${column.cast}`))
    const { rows } = await client.query<string[]>({
      text: `SELECT ${texts.join(', ')}`,
      values: [...parts],
      rowMode: 'array',
    })
    const read = rows[0] ?? []
    return key.every(({ base }, at) => readable(base, read[at] ?? '')) ? keyOf(read) : null
  } catch (error) {
    // Class 22: the type does not take this text. Postgres' own sentence repeats what was typed.
    if (error instanceof pg.DatabaseError && error.code?.startsWith('22')) return null
    throw error
  }
}

/** Numbers too, as far as JSON reads them without loss. */
function partsGiven(given: string, count: number): readonly string[] | null {
  const parts = jsonArray(given)
  if (parts?.length !== count) return null
  const texts = parts.flatMap((part) =>
    typeof part === 'string' ? part : Number.isSafeInteger(part) ? String(part) : [],
  )
  return texts.length === count ? texts : null
}

/**
 * The text of a key of several parts with the spaces that the tables have. It is for commands that know no types
 * because they read no configuration; null for what is no such key.
 */
export function spaced(given: string): CustomerKey | null {
  const count = jsonArray(given)?.length ?? 0
  const parts = count > 1 ? partsGiven(given, count) : null
  return parts && keyOf(parts)
}

/** Whether a key of several parts was typed as the tables have it, but for the spaces between the parts. */
export function onlySpaced(given: string, key: CustomerKey): boolean {
  const parts = jsonArray(given)
  return parts !== null && JSON.stringify(parts) === JSON.stringify(jsonArray(key))
}
