import type { Pool } from 'pg'
import { BELIEVED } from './believed.ts'
import { pruneFindings } from './list.ts'

type Options = {
  readonly keepDays: number
  readonly periodMs: number | null
  /** Findings in one go: many that are old at once must not hold up the rest. */
  readonly limit: number
}

/**
 * The last round stays, since it says where the workers are; and whether they have been at it for a whole period is
 * told by an earlier one. As long as it keeps a finding from being told, it stays too.
 */
const PRUNE_RUNS = `
DELETE FROM rollcall.drift_run WHERE updated_at < now() - greatest($1 * interval '1 day', $2 * interval '2 ms')
  AND id <> coalesce((SELECT max(id) FROM rollcall.drift_run WHERE kind = 'round'), 0)
  AND NOT EXISTS (SELECT FROM rollcall.finding f WHERE f.run_id = drift_run.id AND f.resolved_at IS NULL
    AND NOT (${BELIEVED}))`

/** Findings that ended long ago, and runs as old. */
export async function pruneDrift(pool: Pool, { keepDays, periodMs, limit }: Options): Promise<void> {
  await pruneFindings(pool, keepDays, limit)
  await pool.query(PRUNE_RUNS, [keepDays, periodMs ?? 0])
}
