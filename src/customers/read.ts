import pg, { type Pool } from 'pg'
import type { Config, Row } from '../config/config.ts'
import { TooLarge } from '../config/source.ts'
import { halvedOnRowError, isAboutRows } from '../database/batch.ts'
import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { columnLimits } from './columns.ts'
import { type CustomersShape, describeCustomers, HIDES, WHEN_HIDDEN } from './describe.ts'
import { keyParts, keySql, readable } from './key.ts'
import { withSettings } from './query.ts'

/** A customer as it is now; null: there is none; `ambiguous`: the relation has several rows for the key. */
export type FoundRow = Row | null | 'ambiguous'
export type ReadCustomers = (
  client: Client,
  keys: readonly CustomerKey[],
) => Promise<ReadonlyMap<CustomerKey, FoundRow>>

/**
 * Reads customers by their keys, one statement for a batch; every key asked for is in the answer. Only the columns
 * that the configuration names are read, and of these no value above its limit: one huge value would end the process,
 * and every process after it.
 *
 * A key that the columns' types cannot hold belongs to no customer. Neither does a row whose key has another spelling
 * (citext finds `ANA` for `ana`): the ledger knows customers by the exact text.
 */
export function makeReadCustomers(config: Config, shape: CustomersShape): ReadCustomers {
  const limits = [...columnLimits(config)]
  const statement = readStatement(shape, limits)
  return async (client, keys) => {
    const found = new Map<CustomerKey, FoundRow>(keys.map((key) => [key, null]))
    const wanted = [...found.keys()].flatMap((key) => {
      const parts = partsOf(shape, key)
      return parts ? [{ key, parts }] : []
    })
    if (wanted.length === 0) return found
    const rows = await withSettings(client, shape.settings, async (session) => {
      const { rows } = await session.query<[string, string, ...unknown[]]>({
        text: statement,
        values: [
          wanted.map(({ key }) => key),
          ...shape.key.map((_, i) => wanted.map(({ parts }) => parts[i])),
        ],
        rowMode: 'array',
      })
      if (rows.length === 0 && config.customers.rowSecurity === 'apply') await requireRows(session, shape)
      return rows
    })
    for (const [key, fits, ...values] of rows) {
      found.set(key, found.get(key) === null ? rowOf(limits, fits, values) : 'ambiguous')
    }
    return found
  }
}

class NoRowsVisible extends Error {}

/**
 * Where policies apply, a policy that is gone hides all rows: no customer counts as gone where none can be seen. By the policies
 * of the statement before, since its locks keep others out. Which policies apply behind a view is not known.
 */
async function requireRows(session: Client, shape: CustomersShape): Promise<void> {
  const { schema, name } = shape.relation
  const table = pg.escapeLiteral(`${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`)
  const unfiltered = shape.kind === 'table' ? `NOT row_security_active(${table}) OR` : ''
  const { rows } = await session.query<{ seen: boolean }>(
    `SELECT ${unfiltered} EXISTS (SELECT FROM ${keySql(shape).from}) AS seen`,
  )
  if (rows[0]?.seen !== true) throw new NoRowsVisible()
}

function partsOf(shape: CustomersShape, key: CustomerKey): readonly string[] | null {
  const parts = keyParts(key, shape.key.length)
  return parts && shape.key.every(({ base }, i) => readable(base, parts[i] ?? '')) ? parts : null
}

/**
 * The parameter is cast, never the column, whose index would be lost. Every key is looked up by itself (LATERAL, kept
 * apart by its LIMIT). So a view with GROUP BY or DISTINCT is asked for one customer and not computed as a whole; two
 * rows are enough to see that there are several. OFFSET 0 has each length asked once.
 */
function readStatement(shape: CustomersShape, limits: readonly Limit[]): string {
  const id = pg.escapeIdentifier
  const { key } = shape
  const { from, columns: keys, canonical } = keySql(shape)
  const arrays = ['$1::text[]', ...key.map(({ cast }, i) => `$${i + 2}::${cast}[]`)]
  const parts = key.map((_, i) => `part${i}`)
  const equal = keys.map((name, i) => `${name} OPERATOR(${key[i]?.operators}.=) asked.part${i}`)
  const fits = limits.map(([, most], i) => `${fitsSql(`v.value${i}`, most)} AS fits${i}`)
  const values = limits.map((_, i) => `CASE WHEN r.fits${i} THEN r.value${i} END`)
  return `
SELECT asked.key, pg_catalog.concat(${limits.map((_, i) => `r.fits${i}::int`).join(', ')}), ${values.join(', ')}
FROM ROWS FROM (${arrays.map((array) => `pg_catalog.unnest(${array})`).join(', ')}) AS asked (key, ${parts.join(', ')})
CROSS JOIN LATERAL (
  SELECT v.*, ${fits.join(', ')} FROM (
    SELECT ${limits.map(([column], i) => `c.${id(column)} AS value${i}`).join(', ')}
    FROM ${from}
    WHERE ${equal.join(' AND ')} AND ${canonical} COLLATE "C" = asked.key
    LIMIT 2) v
  OFFSET 0) r`
}

/** A column and the limit of its values, in bytes. */
type Limit = readonly [column: string, most: number]

/**
 * Whether a value, as it is printed, has no more bytes than that. Postgres tells the length of a text without reading
 * it. Any other type is printed for it, once its stored form fits, by its own output function: a cast to text may be one
 * that another role has made. The type is asked of each value, since columns change theirs while workers run.
 */
function fitsSql(value: string, most: number): string {
  return `(CASE WHEN pg_catalog.pg_typeof(${value}) IN ('pg_catalog.text'::pg_catalog.regtype, 'pg_catalog.varchar'::pg_catalog.regtype)
      THEN pg_catalog.octet_length(${value}::text) <= ${most}
    WHEN pg_catalog.pg_column_size(${value}) > ${most} THEN false
    ELSE pg_catalog.octet_length(pg_catalog.format('%s', ${value})) <= ${most} END) IS NOT FALSE`
}

/** `fits` has a letter for each column: 0 where its value is above the limit. */
function rowOf(limits: readonly Limit[], fits: string, values: readonly unknown[]): Row {
  return Object.freeze(
    Object.fromEntries(
      limits.map(([column, most], i) => [column, fits[i] === '0' ? new TooLarge(most) : values[i]]),
    ),
  )
}

export type ReadRows = {
  readonly rows: ReadonlyMap<CustomerKey, FoundRow>
  readonly unreadable: ReadonlyMap<CustomerKey, Error>
}
export type Reading = (keys: readonly CustomerKey[]) => Promise<ReadRows>

/** A misfit may last for long: the catalog is not asked again for each read. */
const DESCRIBE_AGAIN_MS = 1000

/**
 * Reads customers by the types that their key columns have now. A key that the known types cannot hold may have a
 * newer type (an enum with a new value, an integer made bigint); taken for "no such customer" it would be lost. So
 * the catalog is asked again before that counts.
 *
 * A row that Postgres refuses to read costs itself only: see `readApart`. `onMisfits` is called with what the configuration
 * names and the database does not have, for each read that fails for it.
 *
 * @throws RollcallError CUSTOMERS_UNREADABLE where a column, a table or a right is gone since
 */
export function makeReading(
  pool: Pool,
  config: Config,
  described: CustomersShape,
  onMisfits: (misfits: readonly string[]) => void = () => undefined,
): Reading {
  let shape = described
  let read = makeReadCustomers(config, shape)
  let describing = Promise.resolve()
  let describedAt = Number.NEGATIVE_INFINITY

  const describe = async () => {
    shape = await describeCustomers(pool, config)
    read = makeReadCustomers(config, shape)
  }
  /** After an error, which those who ask within a second share. */
  const describeAgain = (): Promise<void> => {
    if (performance.now() - describedAt > DESCRIBE_AGAIN_MS) {
      describedAt = performance.now()
      describing = describe()
    }
    return describing
  }
  const unreadable = (details: readonly string[], cause: unknown): RollcallError => {
    onMisfits(details)
    return new RollcallError('CUSTOMERS_UNREADABLE', details, { cause })
  }

  const explained = (error: unknown): unknown => {
    const said = whyAlso(error, config, shape)
    return said === null ? error : unreadable([said], error)
  }

  return async (keys) => {
    // By a describe of its own: an earlier one may have been before the change.
    if (keys.some((key) => partsOf(shape, key) === null)) await describe()
    const reading = read
    try {
      return await readApart((some) => reading(pool, some), keys)
    } catch (error) {
      if (!isOfNames(error)) throw explained(error)
      await describeAgain().catch((why: unknown) => {
        throw isMisfit(why) ? unreadable(why.details, error) : error
      })
      try {
        return await readApart((some) => read(pool, some), keys)
      } catch (again) {
        throw explained(again)
      }
    }
  }
}

const NO_ROWS_VISIBLE =
  "customers: the role sees no row at all, and with customers.rowSecurity: 'apply' rollcall does not take this for an empty table. Check that a policy still shows the customers to the role"

/** Class 42: a name or a right. Its code alone does not tell which one. */
function isOfNames(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('42') === true
}

function isMisfit(error: unknown): error is RollcallError {
  return error instanceof RollcallError && error.code === 'CUSTOMERS_UNREADABLE'
}

/** A function, an operator, a table, a type or a schema that is not found. */
const UNFOUND = /^(42883|42P01|42704|3F000)$/
const OUT_OF_PATH =
  "customers: a function behind the view does not find what it names. Rollcall reads with Postgres' own schema alone: if it is in another one, name that in customers.searchPath"

/** Reasons that no catalog shows: no row is seen, or a function behind the view needs something once there is a row. */
function whyAlso(error: unknown, config: Config, { kind }: CustomersShape): string | null {
  if (error instanceof NoRowsVisible) return NO_ROWS_VISIBLE
  if (!(error instanceof pg.DatabaseError) || kind !== 'view') return null
  if (HIDES.test(error.message)) return `customers: Postgres reports "${error.message}"${WHEN_HIDDEN}`
  const mayBePath = config.customers.searchPath.length === 0 && UNFOUND.test(error.code ?? '')
  return mayBePath ? OUT_OF_PATH : null
}

/** A division by zero in a view, a function that raises, a page of the disk that is broken: it may be one row. */
async function readApart(
  read: (keys: readonly CustomerKey[]) => Promise<ReadonlyMap<CustomerKey, FoundRow>>,
  keys: readonly CustomerKey[],
): Promise<ReadRows> {
  const rows = new Map<CustomerKey, FoundRow>()
  const unreadable = new Map<CustomerKey, Error>()
  for (const [key, row] of await halvedOnRowError(keys, read))
    if (!(row instanceof Error)) rows.set(key, row)
    else if (isAboutRows(row)) unreadable.set(key, row)
    else throw row
  return { rows, unreadable }
}
