// The SQL of a customer's key, of the rows `c` of the integrator's table or view.
import pg from 'pg'
import { LONGEST_KEY_BYTES } from '../model/customer.ts'
import type { CustomersShape, KeyColumn } from './describe.ts'
import { keyFamily } from './key-type.ts'

type KeySql = {
  readonly from: string
  /** Each of a base type. */
  readonly columns: readonly string[]
  readonly texts: readonly string[]
  /** The one text of the key (model/customer.ts), in brackets and without a collation. */
  readonly canonical: string
  /** Rows with a NULL in their key, or a text that is too long for one, are no customers. */
  readonly present: readonly string[]
}

export function keySql({ relation, key }: Pick<CustomersShape, 'relation' | 'key'>): KeySql {
  const id = pg.escapeIdentifier
  const columns = key.map(({ name, ...type }) => asBase(`c.${id(name)}`, type))
  const texts = key.map((column, at) => textSql(column, columns[at] ?? ''))
  return {
    from: `${id(relation.schema)}.${id(relation.name)} c`,
    columns,
    texts,
    canonical:
      texts.length === 1 ? `(${texts.join()})` : `(pg_catalog.jsonb_build_array(${texts.join(', ')})::text)`,
    present: key.flatMap(({ base }, at) => [
      `${columns[at]} IS NOT NULL`,
      ...(keyFamily(base) === 'text'
        ? [`pg_catalog.octet_length(${texts[at]}) <= ${LONGEST_KEY_BYTES}`]
        : []),
    ]),
  }
}

/**
 * A column of a domain as its base type: else Postgres would take an operator that somebody has made for the domain. An
 * index on the column serves it all the same. Any other column stays as it is: a cast that takes a length or scale away
 * (char(12), numeric(10,2)) hides it from the planner.
 */
export function asBase(column: string, { cast, domain }: Pick<KeyColumn, 'cast' | 'domain'>): string {
  return domain ? `(${column})::${cast}` : column
}

/**
 * By the type's own output function, as capture prints it (capture/body.ts): whoever owns a type may define a cast of it to
 * text. Those of Postgres' own types nobody can make anew.
 */
export function textSql({ base }: Pick<KeyColumn, 'base'>, value: string): string {
  return base.schema === 'pg_catalog'
    ? `(${value})::text`
    : `CASE WHEN ${value} IS NOT NULL THEN pg_catalog.format('%s', ${value}) END`
}
