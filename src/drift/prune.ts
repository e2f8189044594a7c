import type { Pool } from 'pg'
import { pruneFindings } from './list.ts'

type Options = {
  readonly keepDays: number
  /** Findings in one go: many that are old at once must not hold up the rest. */
  readonly limit: number
}

const PRUNE_RUNS = `DELETE FROM rollcall.drift_run WHERE updated_at < now() - $1 * interval '1 day'`

/** Findings that ended long ago, and runs as old. */
export async function pruneDrift(pool: Pool, { keepDays, limit }: Options): Promise<void> {
  await pruneFindings(pool, keepDays, limit)
  await pool.query(PRUNE_RUNS, [keepDays])
}
