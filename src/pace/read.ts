import type { Pool } from 'pg'
import type { Breaker, BreakerCause } from './breaker.ts'
import { BINDS } from './row.ts'

/** What a person needs to know of the pace; times in milliseconds from now, `openedAt` as ISO 8601. */
export type PaceReport = {
  readonly ceiling: number
  /** What the configuration last asked for; null: no worker has been started yet. */
  readonly configured: number | null
  /** Calls per second that may be made now, were nobody held or stopped. */
  readonly rate: number
  /** How often it was lowered. */
  readonly epoch: string
  /** For so long nobody calls, because the service asked for it (Retry-After); 0: it did not. */
  readonly heldForMs: number
  readonly breaker: Breaker['state']
  /** Why calls are stopped; with a breaker that is not open it is only being asked. */
  readonly cause: BreakerCause | null
  readonly openedAt: string | null
  readonly nextProbeMs: number | null
  readonly failedProbes: number
}

/** Whether nobody calls, by whatever was asked or happened. */
export function isStopped({ breaker, cause, heldForMs }: PaceReport): boolean {
  return breaker === 'open' || cause !== null || heldForMs > 0
}

const REPORT = `
SELECT ceiling, configured, rate, epoch::text AS epoch,
  CASE WHEN ${BINDS} THEN greatest(0, extract(epoch FROM not_before - clock_timestamp()) * 1000) ELSE 0
    END::float8 AS "heldForMs",
  breaker, cause, to_char(opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "openedAt",
  CASE WHEN cause IS NOT NULL THEN greatest(0, coalesce(extract(epoch FROM probe_at - clock_timestamp()) * 1000, 0))::float8
    END AS "nextProbeMs",
  CASE WHEN cause IS NOT NULL AND jsonb_typeof(trouble->'failed') = 'number' THEN (trouble->>'failed')::float8 ELSE 0
    END AS "failedProbes"
FROM rollcall.pace WHERE id = 1`

/** Null where no pace was ever set: no worker has been started yet. */
export async function readPace(pool: Pick<Pool, 'query'>): Promise<PaceReport | null> {
  const { rows } = await pool.query<PaceReport>(REPORT)
  return rows[0] ?? null
}
