import pg, { type ClientBase } from 'pg'
import type { Config, Row } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { neededColumns } from './columns.ts'
import type { CustomersShape } from './describe.ts'
import { keyParts } from './key.ts'
import { keySql } from './key-sql.ts'
import { readable } from './key-type.ts'

/** A customer as it is now; null: there is none; `ambiguous`: the relation has several rows for the key. */
export type Found = Row | null | 'ambiguous'
export type ReadCustomers = (
  client: Pick<ClientBase, 'query'>,
  keys: readonly CustomerKey[],
) => Promise<ReadonlyMap<CustomerKey, Found>>

/**
 * Reads customers by their keys, one statement for a batch; every key asked for is in the answer. Only the
 * columns that the configuration names are read.
 *
 * A key that the columns' types cannot hold is a customer that does not exist, and so is a row whose key has
 * another spelling (citext finds `ANA` for `ana`): the ledger knows customers by the exact text.
 */
export function makeReadCustomers(config: Config, shape: CustomersShape): ReadCustomers {
  const columns = neededColumns(config)
  const statement = readStatement(shape, columns)
  return async (client, keys) => {
    const found = new Map<CustomerKey, Found>(keys.map((key) => [key, null]))
    const asked = [...found.keys()].flatMap((key) => {
      const parts = partsOf(shape, key)
      return parts ? [{ key, parts }] : []
    })
    if (asked.length === 0) return found
    const { rows } = await client.query<[string, ...unknown[]]>({
      text: statement,
      values: [asked.map(({ key }) => key), ...shape.key.map((_, i) => asked.map(({ parts }) => parts[i]))],
      rowMode: 'array',
    })
    for (const [key, ...values] of rows) {
      found.set(key, found.get(key) === null ? rowOf(columns, values) : 'ambiguous')
    }
    return found
  }
}

/** Whether the key columns' types can hold this key. */
export function fitsKey(shape: CustomersShape, key: CustomerKey): boolean {
  return partsOf(shape, key) !== null
}

function partsOf(shape: CustomersShape, key: CustomerKey): readonly string[] | null {
  const parts = keyParts(key, shape.key.length)
  return parts && shape.key.every(({ base }, i) => readable(base, parts[i] ?? '')) ? parts : null
}

/**
 * The parameter is cast, never the column, whose index would be lost. Every key is looked up by itself
 * (LATERAL, kept apart by its LIMIT), so that a view with GROUP BY or DISTINCT is asked for one customer and
 * not computed as a whole; two rows are enough to see that there are several.
 */
function readStatement(shape: CustomersShape, columns: readonly string[]): string {
  const id = pg.escapeIdentifier
  const { key } = shape
  const { from, columns: keys, canonical } = keySql(shape)
  const arrays = ['$1::text[]', ...key.map(({ cast }, i) => `$${i + 2}::${cast}[]`)]
  const parts = key.map((_, i) => `part${i}`)
  const equal = keys.map((name, i) => `${name} = asked.part${i}`)
  return `
SELECT asked.key, r.* FROM unnest(${arrays.join(', ')}) AS asked (key, ${parts.join(', ')})
CROSS JOIN LATERAL (
  SELECT ${columns.map((column, i) => `c.${id(column)} AS value${i}`).join(', ')}
  FROM ${from}
  WHERE ${equal.join(' AND ')} AND ${canonical} COLLATE "C" = asked.key
  LIMIT 2) r`
}

function rowOf(columns: readonly string[], values: readonly unknown[]): Row {
  return Object.freeze(Object.fromEntries(columns.map((column, i) => [column, values[i]])))
}
