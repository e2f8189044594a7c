// Customers, capture and a ledger, without a worker: what a sweep notes stays as it was noted.
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { runSweep, type SweepingOptions } from '../../src/sweep/run.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import { freshDatabase } from '../support/database.ts'
import { CONFIG, CUSTOMERS, SECRETS } from '../support/house.ts'
import { installCapture } from '../support/install.ts'

/** `customers` exist before capture does, and are not noted yet. */
export async function openScene(customers: number, changes: Partial<RollcallConfig> = {}) {
  const db = await freshDatabase()
  const { pool } = db
  const config = resolveConfig({ ...CONFIG, ...changes }, 'rollcall.config.ts')
  await pool.query(CUSTOMERS)
  await pool.query(
    `INSERT INTO clientes (id, plan) SELECT 'k' || lpad(i::text, 3, '0'), 'premium' FROM generate_series(1, $1) i`,
    [customers],
  )
  await installCapture(pool, config)
  const options: SweepingOptions = {
    ...{ pool, config, kind: 'backfill' },
    digester: makeDigester(SECRETS.ROLLCALL_DIGEST_KEY),
    signal: new AbortController().signal,
  }
  return {
    pool,
    options,
    run: (more: Partial<SweepingOptions> = {}) => runSweep({ ...options, ...more }),
    /** How often each customer was noted. */
    async noted(): Promise<Readonly<Record<string, number>>> {
      const { rows } = await pool.query<{ key: string; n: number }>(
        'SELECT key, change_version::int AS n FROM rollcall.owed WHERE due_at IS NOT NULL ORDER BY key',
      )
      return Object.fromEntries(rows.map(({ key, n }) => [key, n]))
    },
    /** Kind and outcome of every sweep, in their order. */
    async sweeps(): Promise<readonly string[]> {
      const { rows } = await pool.query<{ sweep: string }>(
        `SELECT kind || ' ' || coalesce(outcome, 'unfinished') AS sweep FROM rollcall.run ORDER BY id`,
      )
      return rows.map(({ sweep }) => sweep)
    },
    [Symbol.asyncDispose]: () => db.drop(),
  }
}
