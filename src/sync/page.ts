// Who else claims the users of many customers, read at once as a claim reads it for one.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { Found } from '../customers/read.ts'
import type { Reading } from '../customers/reading.ts'
import { readClaimants } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdFor } from './map.ts'

type Meeting = {
  readonly config: Config
  readonly read: Reading
  readonly rows: ReadonlyMap<CustomerKey, Found>
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
  const otherRows = others.length > 0 ? (await read([...new Set(others)])).rows : new Map()
  return {
    config,
    now,
    readClaimants: async (userId: string) => claimants.get(userId) ?? [],
    readRow: async (key: CustomerKey) => rows.get(key) ?? otherRows.get(key) ?? null,
  }
}
