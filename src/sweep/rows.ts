// The rows of many customers at once, also where Postgres refuses to read some of them.
import type { Found } from '../customers/read.ts'
import type { CustomerKey } from '../model/customer.ts'

export type Read = (keys: readonly CustomerKey[]) => Promise<ReadonlyMap<CustomerKey, Found>>
export type Rows = ReadonlyMap<CustomerKey, Found>

/** Postgres' class for values that cannot be had: a division by zero in a view, a text that is no date. */
const DATA_EXCEPTION = /^22/

/** A row that Postgres refuses to read must not keep the others from being looked at. */
export async function readRows(
  read: Read,
  keys: readonly CustomerKey[],
): Promise<{ readonly rows: Rows; readonly unreadable: ReadonlySet<CustomerKey> }> {
  try {
    return { rows: await read(keys), unreadable: new Set() }
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string' || !DATA_EXCEPTION.test(code)) throw error
    if (keys.length === 1) return { rows: new Map(), unreadable: new Set(keys) }
    const middle = Math.ceil(keys.length / 2)
    const first = await readRows(read, keys.slice(0, middle))
    const second = await readRows(read, keys.slice(middle))
    return {
      rows: new Map([...first.rows, ...second.rows]),
      unreadable: new Set([...first.unreadable, ...second.unreadable]),
    }
  }
}
