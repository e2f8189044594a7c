import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { makeReadCustomers } from '../customers/read.ts'
import { readNow } from '../ledger/now.ts'
import { makeReadClaimants, makeReadRecord, NEVER_SETTLED } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Mapped } from '../model/mapped.ts'
import { forCustomer, makeDigester } from '../sync/digest.ts'
import { mapFound } from '../sync/map.ts'
import { rememberFor, startMemory } from '../sync/memory.ts'
import { makePlan, type Plan } from '../sync/plan.ts'
import { policyOf } from '../sync/policy.ts'
import { findRivals } from '../sync/rivals.ts'

export type DryRun = {
  readonly mapped: Mapped
  readonly plan: Plan
  /** The plan was made without knowing what was sent before, as if this customer were new. */
  readonly withoutLedger: boolean
}

type Options = {
  readonly pool: Pool
  readonly config: Config
  readonly shape: CustomersShape
  readonly digestKey: string | undefined
}

/** Any key will do where nothing is compared with what another key has made. */
const NO_KEY = 'no digest key'

/**
 * What a sync would do, without a call and without a write. It needs the right to read the customers and
 * nothing else; where the ledger is there, and the key to compare with it, the plan starts from what is known.
 */
export async function makeDryRun({
  pool,
  config,
  shape,
  digestKey,
}: Options): Promise<(key: CustomerKey) => Promise<DryRun>> {
  const readMany = makeReadCustomers(config, shape)
  const readRow = async (key: CustomerKey) => (await readMany(pool, [key])).get(key) ?? null
  const { rows } = await pool.query<{ there: boolean }>(
    `SELECT to_regclass('rollcall.ledger') IS NOT NULL AS there`,
  )
  const withoutLedger = !rows[0]?.there || digestKey === undefined
  const digester = makeDigester(digestKey ?? NO_KEY)
  const policy = policyOf(config)
  const readRecord = withoutLedger ? async () => NEVER_SETTLED : makeReadRecord(pool)
  const readClaimants = withoutLedger ? async () => [] : makeReadClaimants(pool)

  return async (key) => {
    const row = await readRow(key)
    const record = await readRecord(key)
    const now = await readNow(pool)
    const mapped = mapFound(config, key, row, now)
    const rivals = await findRivals({ config, readRow, readClaimants, now }, key, mapped)
    const doubts = withoutLedger ? NO_DOUBTS : await readDoubts(pool, key)
    const digests = forCustomer(digester, key)
    const start = startMemory({ record, ...doubts, digestKey: digester.id })
    const memory = rememberFor(start, { mapped, record, digests })
    return {
      mapped,
      plan: makePlan({ mapped, memory, rivals, policy, digests }),
      withoutLedger,
    }
  }
}

type Doubts = {
  readonly unknown: boolean
  readonly blind: boolean
  readonly statusDoubted: boolean
  readonly replanInMs: number | null
}
const NO_DOUBTS: Doubts = { unknown: false, blind: false, statusDoubted: false, replanInMs: null }

async function readDoubts(pool: Pool, key: CustomerKey): Promise<Doubts> {
  const { rows } = await pool.query<Doubts>(
    `SELECT unknown, blind, status_doubted AS "statusDoubted",
       (extract(epoch FROM replan_at - now()) * 1000)::float8 AS "replanInMs"
     FROM rollcall.owed WHERE key = $1`,
    [key],
  )
  return rows[0] ?? NO_DOUBTS
}
