import type { Pool } from 'pg'
import { unwatchedTables } from '../capture/watching.ts'
import type { Config } from '../config/config.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { makeReading } from '../customers/reading.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Mapped } from '../model/mapped.ts'
import { makeDigester } from '../sync/digest.ts'
import type { Plan } from '../sync/plan.ts'
import { planNow, readSnapshots } from '../sync/snapshot.ts'

type DryRun = {
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
  const { rows } = await pool.query<{ there: boolean }>(
    `SELECT to_regclass('rollcall.ledger') IS NOT NULL AS there`,
  )
  const withoutLedger = !rows[0]?.there || digestKey === undefined
  const digester = makeDigester(digestKey ?? NO_KEY)
  const readCustomers = makeReading(pool, config, shape)
  const unwatched = () => unwatchedTables(pool, config)
  const reading = { pool, config, digester, withoutLedger, readCustomers, unwatched }

  return async (key) => {
    const [snapshot] = await readSnapshots(reading, [key])
    if (!snapshot || snapshot.unreadable) throw snapshot?.unreadable ?? new Error('one key, one snapshot')
    return { mapped: snapshot.mapped, plan: planNow(snapshot).plan, withoutLedger }
  }
}
