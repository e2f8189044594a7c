// A customer's key: its one text, the types of its columns, and its SQL over the rows `c` of the customers' table or view.
import pg from 'pg'
import type { Relation } from '../config/relation.ts'
import { type CustomerKey, LONGEST_KEY_BYTES } from '../model/customer.ts'
import type { BaseType, KeyColumn } from './catalog.ts'
import { quoted } from './query.ts'

/**
 * The texts of the key columns, in the order of `customers.key`; null when the key does not have that many parts or
 * one of them is NULL.
 *
 * A key may be older than the configuration, from before a key column was added. It may also hold a NULL, from a
 * watched table whose reference is empty. Neither belongs to a customer of ours, and the caller has to say what that
 * means, so this is an answer and not an error.
 */
export function keyParts(key: CustomerKey, count: number): readonly string[] | null {
  if (count === 1) return [key]
  const parts = jsonArray(key)
  return parts?.length === count && parts.every((part) => typeof part === 'string') ? parts : null
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

export function jsonArray(text: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null // no JSON: the key of one column, or a mistake
  }
}

const BITS: Readonly<Record<string, number>> = { int2: 16, int4: 32, int8: 64 }
const TEXTS = new Set(['text', 'varchar', 'bpchar'])

type KeyFamily = 'integer' | 'numeric' | 'text' | 'uuid' | 'enum'

/**
 * The family of a type whose text is always the same for the same value; undefined for every other. The text of
 * dates, timestamps, floats, money and intervals depends on settings of the session that prints it. Values of json
 * have several texts: a key made of them would not be found again.
 */
export function keyFamily({ schema, name, labels }: BaseType): KeyFamily | undefined {
  if (labels) return 'enum'
  if (name === 'citext') return 'text' // an extension, in whatever schema it was put
  if (schema !== 'pg_catalog') return undefined
  if (name in BITS) return 'integer'
  if (TEXTS.has(name)) return 'text'
  return name === 'uuid' || name === 'numeric' ? name : undefined
}

/**
 * Whether Postgres can read the text as this type. A key may be older than the configuration, and one that
 * cannot be read would fail the whole statement. Only canonical spellings count (`007` is no integer
 * key): any other could not be equal to the text of a key.
 */
export function readable(type: BaseType, text: string): boolean {
  const family = keyFamily(type)
  switch (family) {
    case 'integer':
      if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return false
      return BigInt.asIntN(BITS[type.name] ?? 0, BigInt(text)) === BigInt(text)
    case 'numeric':
      return /^(?:NaN|-?Infinity|-?\d{1,131072}(?:\.\d{1,16383})?)$/.test(text)
    case 'uuid':
      return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
    case 'enum':
      return type.labels?.includes(text) ?? false
    case 'text':
      return !text.includes('\0') && text.isWellFormed()
    case undefined:
      return false
    default:
      return family satisfies never
  }
}

type Keyed = { readonly relation: Relation; readonly key: readonly KeyColumn[] }

export function keySql({ relation, key }: Keyed) {
  const columns = key.map(({ name, ...type }) => asBase(`c.${pg.escapeIdentifier(name)}`, type))
  const texts = key.map((column, at) => textSql(column, columns[at] ?? ''))
  return {
    from: `${quoted(relation)} c`,
    columns,
    texts,
    // The one text of the key (model/customer.ts), in brackets and without a collation.
    canonical:
      texts.length === 1 ? `(${texts.join()})` : `(pg_catalog.jsonb_build_array(${texts.join(', ')})::text)`,
    // Rows with a NULL in their key, or a text that is too long for one, are no customers.
    present: key.flatMap(({ base }, at) => [
      `${columns[at]} IS NOT NULL`,
      ...(keyFamily(base) === 'text'
        ? [`pg_catalog.octet_length(${texts[at]}) <= ${LONGEST_KEY_BYTES}`]
        : []),
    ]),
  }
}

/**
 * A column of a domain as its base type: else Postgres would take an operator that was made for the domain. An
 * index on the column serves it all the same. Any other column stays as it is: a cast that takes a length or scale away
 * (char(12), numeric(10,2)) hides it from the planner.
 */
export function asBase(column: string, { cast, domain }: Pick<KeyColumn, 'cast' | 'domain'>): string {
  return domain ? `(${column})::${cast}` : column
}

/**
 * By the type's own output function, as capture prints it (capture/triggers.ts): the owner of a type may define a
 * cast of it to text. The casts of Postgres' own types cannot be made anew.
 */
export function textSql({ base }: Pick<KeyColumn, 'base'>, value: string): string {
  return base.schema === 'pg_catalog'
    ? `(${value})::text`
    : `CASE WHEN ${value} IS NOT NULL THEN pg_catalog.format('%s', ${value}) END`
}
