// The SQL of a customer's key, of the rows `c` of the integrator's table or view.
import pg from 'pg'
import { LONGEST_KEY_BYTES } from '../model/customer.ts'
import type { CustomersShape } from './describe.ts'
import { keyFamily } from './key-type.ts'

type KeySql = {
  readonly from: string
  readonly columns: readonly string[]
  readonly texts: readonly string[]
  /** The one text of the key (model/customer.ts), in brackets and without a collation. */
  readonly canonical: string
  /** Rows with a NULL in their key, or a text that is too long for one, are no customers. */
  readonly present: readonly string[]
}

export function keySql({ relation, key }: Pick<CustomersShape, 'relation' | 'key'>): KeySql {
  const id = pg.escapeIdentifier
  const columns = key.map(({ name }) => `c.${id(name)}`)
  const texts = columns.map((column) => `(${column})::text`)
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
