// The customers that a person names on the command line. A typing error must not pass for a customer who is gone: that
// one's access would be revoked, and by the mapping it may be the user of another customer.
import type { Pool } from 'pg'
import type { CustomersShape } from '../customers/describe.ts'
import { onlySpaced, readGiven, spaced } from '../customers/given.ts'
import { knownKeysIfAny } from '../ledger/history.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Io } from './io.ts'
import { didYouMean, usage } from './option-values.ts'
import { shellQuoted, shown } from './render.ts'

type Reading = { readonly pool: Pool; readonly shape: CustomersShape }

/**
 * The keys in the text that the tables know, and a note for each that was typed otherwise, but for spaces. A text that
 * the key columns cannot hold stays as it is where there is a record of it: the columns may have been others then.
 *
 * @throws RollcallError USAGE, which says what a key looks like.
 */
export async function namedKeys(io: Pick<Io, 'err'>, { pool, shape }: Reading, keys: readonly string[]) {
  const named: { given: string; key: CustomerKey | null }[] = []
  for (const given of keys) named.push({ given, key: await readGiven(pool, shape, given) })
  const odd = named.flatMap(({ given, key }) => (key === null ? given : []))
  const known = await knownKeysIfAny(pool, odd)
  const wrong = odd.filter((given) => !known.has(given))
  if (wrong.length > 0)
    throw usage(
      ...wrong.map((given) => `${shown(given)} does not fit the key: expected ${expectedOf(shape)}`),
    )
  for (const { given, key } of named)
    if (key !== null && key !== given && !onlySpaced(given, key))
      io.err(`note: ${shown(given)} is read as ${shown(key)}`)
  return named.map(({ given, key }) => key ?? given)
}

function expectedOf({ key }: CustomersShape): string {
  const columns = shown(key.map(({ name, type }) => `${name} (${type})`).join(', '))
  if (key.length === 1) return columns
  return `a JSON array of ${key.length} strings (quote numbers too), one for each key column: ${columns}; for example '["…"${', "…"'.repeat(key.length - 1)}]'`
}

/**
 * For customers who have no row.
 *
 * @throws RollcallError USAGE, when nothing is known of one of them
 */
export async function checkKnown(pool: Pool, missing: readonly CustomerKey[]): Promise<void> {
  const known = await knownKeysIfAny(pool, missing)
  const unknown = missing.filter((key) => !known.has(key))
  if (unknown.length === 0) return
  throw usage(
    ...unknown.map(
      (key) =>
        `your data has no row with the key ${shown(shellQuoted(key))}, and rollcall has no record of this customer: check the key`,
    ),
    'nothing was done; if the row was deleted, add --removed',
  )
}

export function noRecord(key: CustomerKey): string {
  return `rollcall has no record of customer ${shown(key)}: check the key`
}

/** As `knownSpelling`; then a mistyped key, or one of these commands, is an error, and nothing is done. @throws RollcallError USAGE */
export async function recordedKeys(pool: Pool, given: readonly string[], commands: readonly string[] = []) {
  const keys = await knownSpelling(pool, given)
  const known = await knownKeysIfAny(pool, keys)
  const unknown = [...new Set(keys)].filter((key) => !known.has(key))
  if (unknown.length > 0) throw usage(...unknown.map((key) => noRecord(key) + didYouMean(key, commands)))
  return keys
}

/** For commands without a configuration: a key of several columns may be typed without the spaces of the tables. */
export async function knownSpelling(pool: Pool, keys: readonly string[]): Promise<readonly CustomerKey[]> {
  const spellings = keys.map((given) => ({ given, key: spaced(given) ?? given }))
  const known = await knownKeysIfAny(
    pool,
    spellings.flatMap(({ given, key }) => (key === given ? [] : [given, key])),
  )
  return spellings.map(({ given, key }) => (!known.has(given) && known.has(key) ? key : given))
}
