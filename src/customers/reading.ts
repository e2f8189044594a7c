import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type CustomersShape, describeCustomers } from './describe.ts'
import { type Found, fitsKey, makeReadCustomers } from './read.ts'

/** A key that fits no type may be older than the configuration: the catalog is not asked again for each. */
const DESCRIBE_AGAIN_MS = 1000

/**
 * Reads customers by the types that their key columns have now. A key that the known types cannot hold may be
 * one of a type that was changed since (an enum with a new value, an integer made bigint); taken for "no such
 * customer" it would be lost. So the catalog is asked again before that is believed.
 */
export function makeReading(pool: Pool, config: Config, described: CustomersShape) {
  let shape = described
  let read = makeReadCustomers(config, shape)
  let describedAt = Number.NEGATIVE_INFINITY

  return async (keys: readonly CustomerKey[]): Promise<ReadonlyMap<CustomerKey, Found>> => {
    const odd = keys.some((key) => !fitsKey(shape, key))
    if (odd && performance.now() - describedAt > DESCRIBE_AGAIN_MS) {
      shape = await describeCustomers(pool, config)
      read = makeReadCustomers(config, shape)
      describedAt = performance.now()
    }
    return await read(pool, keys)
  }
}
