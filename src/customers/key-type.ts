// Which column types a customer key may have, and which texts they can read. Pure.

/** A column's type with domains resolved, as the catalog has it. */
export type BaseType = {
  readonly schema: string
  readonly name: string
  /** The labels of an enum; null for every other type. */
  readonly labels: readonly string[] | null
}

const RANGES: Readonly<Record<string, { readonly min: bigint; readonly max: bigint }>> = {
  int2: { min: -(2n ** 15n), max: 2n ** 15n - 1n },
  int4: { min: -(2n ** 31n), max: 2n ** 31n - 1n },
  int8: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
}
const TEXTS = new Set(['text', 'varchar', 'bpchar'])

type KeyFamily = 'integer' | 'numeric' | 'text' | 'uuid' | 'enum'

/**
 * The family of a type whose text is always the same for the same value; undefined for every other. The text
 * of dates, timestamps, floats, money and intervals depends on settings of the session that prints it, and
 * json has several texts for one value: a key made of them would not be found again.
 */
export function keyFamily({ schema, name, labels }: BaseType): KeyFamily | undefined {
  if (labels) return 'enum'
  if (name === 'citext') return 'text' // an extension, in whatever schema it was put
  if (schema !== 'pg_catalog') return undefined
  if (name in RANGES) return 'integer'
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
    case 'integer': {
      const range = RANGES[type.name]
      if (!range || !/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return false
      return BigInt(text) >= range.min && BigInt(text) <= range.max
    }
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
