// Reads many customers at once, as a claim reads one: their rows, and who else claims their users.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { Found } from '../customers/read.ts'
import { readClaimants } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdFor } from './map.ts'

type Rows = ReadonlyMap<CustomerKey, Found>
type Read = (keys: readonly CustomerKey[]) => Promise<Rows>

/** Postgres' class for values that cannot be had: a division by zero in a view, a text that is no date. */
const DATA_EXCEPTION = /^22/

/** A row that Postgres refuses to read must not keep the others from being looked at. */
export async function readRows(
  read: Read,
  keys: readonly CustomerKey[],
): Promise<{ rows: Rows; unreadable: ReadonlySet<CustomerKey> }> {
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

type Meeting = {
  readonly config: Config
  readonly read: Read
  readonly rows: Rows
  /** By `user_id`; see `claimantsOf`. */
  readonly claimants: ReadonlyMap<string, readonly CustomerKey[]>
  readonly now: Date
}

/** Everybody with a record under the users of these customers. */
export async function claimantsOf(pool: Pool, config: Config, keys: readonly CustomerKey[]) {
  const userIds = keys.flatMap((key) => userIdFor(config, key) ?? [])
  // Where nothing is recorded there may be no table to ask.
  return userIds.length > 0 ? await readClaimants(pool, userIds) : new Map<string, readonly CustomerKey[]>()
}

/** All that `findRivals` asks for a page. */
export async function readRivals({ config, read, rows, claimants, now }: Meeting) {
  const others = [...claimants.values()].flat().filter((key) => !rows.has(key))
  const otherRows = others.length > 0 ? (await readRows(read, [...new Set(others)])).rows : new Map()
  return {
    config,
    now,
    readClaimants: async (userId: string) => claimants.get(userId) ?? [],
    readRow: async (key: CustomerKey) => rows.get(key) ?? otherRows.get(key) ?? null,
  }
}
