import pg, { type Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { type CustomersShape, describeCustomers, HIDES, WHEN_HIDDEN } from './describe.ts'
import { type FoundRow, fitsKey, makeReadCustomers, NobodySeen } from './read.ts'

export type ReadRows = {
  readonly rows: ReadonlyMap<CustomerKey, FoundRow>
  /** Those whose row Postgres refuses to read, with its error. */
  readonly unreadable: ReadonlyMap<CustomerKey, Error>
}
export type Reading = (keys: readonly CustomerKey[]) => Promise<ReadRows>

/** What does not fit may stay so for long: the catalog is not asked again for each read. */
const DESCRIBE_AGAIN_MS = 1000

type ReadingOptions = {
  /** Told what the configuration names and the database does not have, for each read that fails for it. */
  readonly onMisfits?: (misfits: readonly string[]) => void
}

/**
 * Reads customers by the types that their key columns have now. A key that the known types cannot hold may be
 * one of a type that was changed since (an enum with a new value, an integer made bigint); taken for "no such
 * customer" it would be lost. So the catalog is asked again before that is believed.
 *
 * A row that Postgres refuses to read costs itself only: see `readApart`.
 *
 * @throws RollcallError CUSTOMERS_UNREADABLE where a column, a table or a right is gone since
 */
export function makeReading(
  pool: Pool,
  config: Config,
  described: CustomersShape,
  { onMisfits = () => undefined }: ReadingOptions = {},
): Reading {
  let shape = described
  let read = makeReadCustomers(config, shape)
  let looking = Promise.resolve()
  let lookedAt = Number.NEGATIVE_INFINITY

  const look = async () => {
    shape = await describeCustomers(pool, config)
    read = makeReadCustomers(config, shape)
  }
  /** After an error, which those who ask within a second share. */
  const lookAgain = (): Promise<void> => {
    if (performance.now() - lookedAt > DESCRIBE_AGAIN_MS) {
      lookedAt = performance.now()
      looking = look()
    }
    return looking
  }
  const unreadable = (details: readonly string[], cause: unknown): RollcallError => {
    onMisfits(details)
    return new RollcallError('CUSTOMERS_UNREADABLE', details, { cause })
  }

  const told = (error: unknown): unknown => {
    const said = whyAlso(error, config, shape)
    return said === null ? error : unreadable([said], error)
  }

  return async (keys) => {
    // By a look of its own: an earlier one may have been before the change.
    if (keys.some((key) => !fitsKey(shape, key))) await look()
    const reading = read
    try {
      return await readApart((some) => reading(pool, some), keys)
    } catch (error) {
      if (!isOfNames(error)) throw told(error)
      await lookAgain().catch((why: unknown) => {
        throw isMisfit(why) ? unreadable(why.details, error) : error
      })
      try {
        return await readApart((some) => read(pool, some), keys)
      } catch (again) {
        throw told(again)
      }
    }
  }
}

const NOBODY_SEEN =
  "customers: the role sees no customer at all. With customers.rowSecurity: 'apply' that is not taken for an empty table: is there still a policy that shows the role its customers?"

/** Class 42: a name or a right. Its code alone would tell nobody which one. */
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

/** What no catalog shows: that nobody is seen, or what a function behind the view looks for once there is a row. */
function whyAlso(error: unknown, config: Config, { kind }: CustomersShape): string | null {
  if (error instanceof NobodySeen) return NOBODY_SEEN
  if (!(error instanceof pg.DatabaseError) || kind !== 'view') return null
  if (HIDES.test(error.message)) return `customers: ${error.message}${WHEN_HIDDEN}`
  const mayBePath = config.customers.searchPath.length === 0 && UNFOUND.test(error.code ?? '')
  return mayBePath ? OUT_OF_PATH : null
}

/**
 * Classes of Postgres' errors that say nothing of a single row: the connection, the login, the transaction, a name or a
 * right, a lock, the server itself. Every other error may come from one row: a division by zero or a second row of a
 * subquery in a view, a function that raises, a page of the disk that is broken.
 */
const OF_ALL_ROWS = /^(08|25|28|3D|40|42|53|55|57|58)/

/** A batch that fails is halved, until whoever cannot be read stands alone. */
async function readApart(
  read: (keys: readonly CustomerKey[]) => Promise<ReadonlyMap<CustomerKey, FoundRow>>,
  keys: readonly CustomerKey[],
): Promise<ReadRows> {
  try {
    return { rows: await read(keys), unreadable: new Map() }
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || OF_ALL_ROWS.test(error.code ?? '08')) throw error
    if (keys.length === 1) return { rows: new Map(), unreadable: new Map(keys.map((each) => [each, error])) }
    const middle = Math.ceil(keys.length / 2)
    const first = await readApart(read, keys.slice(0, middle))
    const second = await readApart(read, keys.slice(middle))
    return {
      rows: new Map([...first.rows, ...second.rows]),
      unreadable: new Map([...first.unreadable, ...second.unreadable]),
    }
  }
}
