// What a customer should have at the service, read as every sync reads it.

import type { ClientBase, Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { type Found, makeReadCustomers } from '../customers/read.ts'
import { readNow } from '../ledger/now.ts'
import { databaseError } from '../ledger/reachable.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { FieldIssue, Mapped } from '../model/mapped.ts'
import type { Status } from '../model/user.ts'
import { mapFound, userIdFor } from '../sync/map.ts'

/** No field's value but the status. `unreadable`: Postgres refused to read the row, with its error code. */
export type Should =
  | { readonly kind: 'user'; readonly status: Status }
  | { readonly kind: 'removed' | 'out-of-scope' }
  | { readonly kind: 'unmappable'; readonly issues: readonly FieldIssue[] }
  | { readonly kind: 'unreadable'; readonly code: string }

export type Subject = { readonly mapped: Mapped; readonly should: Should }

export type ReadRow = ((key: CustomerKey) => Promise<Found>) & {
  /** The database's clock, by which every sync maps. */
  readonly now: () => Promise<Date>
}

export function makeReadRow(pool: Pool, config: Config, shape: CustomersShape): ReadRow {
  const readMany = makeReadCustomers(config, shape)
  const client: Pick<ClientBase, 'query'> = pool
  const readRow = async (key: CustomerKey) => (await readMany(client, [key])).get(key) ?? null
  return Object.assign(readRow, { now: () => readNow(client) })
}

/**
 * A row that Postgres refuses to read (a view that divides by zero) says nothing about the customer, but its
 * user_id comes from the key alone: the service can still be asked. A database that is away is thrown.
 */
export async function readSubject(config: Config, key: CustomerKey, readRow: ReadRow): Promise<Subject> {
  try {
    const mapped = mapFound(config, key, await readRow(key), await readRow.now())
    return { mapped, should: shouldOf(mapped) }
  } catch (error) {
    return { mapped: unreadable(config, key), should: { kind: 'unreadable', code: refusalOf(error) } }
  }
}

/** The code under which Postgres refused to read a row; every other error is thrown. */
export function refusalOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string' || databaseError(error) !== null) throw error
  return code
}

export function shouldOf(mapped: Mapped): Should {
  switch (mapped.kind) {
    case 'user':
      return { kind: 'user', status: mapped.user.status }
    case 'removed':
    case 'out-of-scope':
      return { kind: mapped.kind }
    case 'rejected':
      return { kind: 'unmappable', issues: mapped.issues }
    default:
      return mapped satisfies never
  }
}

function unreadable(config: Config, key: CustomerKey): Mapped {
  return { kind: 'rejected', userId: userIdFor(config, key), issues: [] }
}
