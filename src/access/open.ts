// Opens what a question about customers at the service needs: read only, and with little patience.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import { nameOf } from '../customers/problems.ts'
import { makeUsersClient } from '../service/users.ts'
import type { Parts } from './customer.ts'
import { inTime } from './in-time.ts'
import { findTables, openKnowledge } from './knowledge.ts'
import { hasPace, makeGate, makeSilence, OPEN_GATE } from './look.ts'
import { makeReadRow } from './should.ts'

export type PartsOptions = {
  readonly pool: Pool
  readonly config: Config
  readonly service: { readonly origin: string; readonly apiKey: string; readonly secretKey: string }
  readonly digestKey: string | undefined
  readonly stop: AbortSignal
  /** For a permit of the common pace; default PATIENCE_MS. */
  readonly patienceMs?: number
}

export type OpenParts = {
  readonly parts: Parts
  readonly shape: CustomersShape
  readonly warnings: readonly string[]
  close(): Promise<void>
}

/** Throws a RollcallError when the customers cannot be read; everything else that is missing is part of the answer. */
export async function openParts(options: PartsOptions): Promise<OpenParts> {
  const { pool, config, service, digestKey, stop, patienceMs } = options
  const { timeoutMs, allowPlainHttp } = config.service
  const users = makeUsersClient({ ...service, timeoutMs, allowPlainHttp, concurrency: 1 })
  try {
    const shape = await inTime(nameOf(config.customers.relation), () => describeCustomers(pool, config))
    const tables = await findTables(pool)
    const knowledge = await openKnowledge(pool, tables, { ...service, digestKey })
    const paced = tables.pace && knowledge.about === 'known' && (await hasPace(pool))
    const gate = paced ? makeGate({ pool, stop, ...(patienceMs ? { patienceMs } : {}) }) : OPEN_GATE
    const readRow = makeReadRow(pool, config, shape)
    const silence = makeSilence()
    const parts = { pool, config, digestKey, readRow, knowledge, gate, silence, users, stop }
    return { parts, shape, warnings: shape.warnings, close: () => users.close() }
  } catch (error) {
    await users.close()
    throw error
  }
}
