import type { Pool } from 'pg'
import type { Breaker } from './breaker.ts'
import { BINDS } from './row.ts'

/** The pace as a person is shown it; times in milliseconds from now, `openedAt` as ISO 8601. */
export type PaceReport = {
  readonly ceiling: number
  /** The rate that the configuration last asked for; null: no worker has been started yet. */
  readonly configured: number | null
  /** Calls per second that may be made now, if no call were held or stopped. */
  readonly rate: number
  readonly epoch: string
  /** For so long no process calls, because the service asked for it (Retry-After); 0: it did not. */
  readonly heldForMs: number
  readonly breaker: Breaker['state']
  /** Why calls are stopped: the service is out of order, or refuses the keys of the worker that called last. */
  readonly cause: 'outage' | 'credentials' | null
  readonly openedAt: string | null
  readonly nextProbeMs: number | null
  readonly failedProbes: number
}

/** Whether calls are stopped or held, for whatever reason. */
export function isStopped({ cause, heldForMs }: Pick<PaceReport, 'cause' | 'heldForMs'>): boolean {
  return cause !== null || heldForMs > 0
}

/** Longer than from one probe of a worker to its next. */
const RECENT = `at > clock_timestamp() - interval '3 minutes'`

/**
 * Since when workers are refused for their keys; null: they are not. Each process keeps that to itself (keys.ts), so it
 * is read from the log of calls: a probe was denied lately, and no answer since has taken the keys. One that is out of
 * order or asks for patience has not.
 */
const REFUSED = `(
  SELECT CASE WHEN bool_or(denied AND ${RECENT}) THEN min(at) FILTER (WHERE denied) END AS since, bool_and(denied) FILTER (WHERE is_last AND ${RECENT}) AS of_all FROM (
    SELECT at, coalesce(status IN (401, 403), false) AS denied, id = max(id) OVER (PARTITION BY by) AS is_last
    FROM rollcall.call WHERE by LIKE 'worker %' AND plan = 'probe' AND id > coalesce((
      SELECT id FROM rollcall.call
      WHERE by LIKE 'worker %' AND status < 500 AND status NOT IN (401, 403, 408, 429)
      ORDER BY id DESC LIMIT 1), 0)) p)`

/** No worker could call, whatever is due. A hold that does not bind is a time of a clock that was set back. */
export const CALLS_STOPPED = `(EXISTS (SELECT FROM ${REFUSED} r WHERE r.since IS NOT NULL) OR EXISTS (
  SELECT FROM rollcall.pace WHERE breaker = 'open' OR (not_before > clock_timestamp() AND ${BINDS})))`

/** In an outage the keys are to blame only where the last probe of each worker that still probes was denied. */
const REPORT = `
SELECT ceiling, configured, rate, epoch::text AS epoch,
  CASE WHEN ${BINDS} THEN greatest(0, round(extract(epoch FROM not_before - clock_timestamp()) * 1000)) ELSE 0
    END::float8 AS "heldForMs",
  breaker, c.cause, to_char(CASE c.cause WHEN 'outage' THEN opened_at WHEN 'credentials' THEN refused.since END
    AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "openedAt",
  CASE WHEN c.cause = 'outage' THEN greatest(0, coalesce(round(extract(epoch FROM probe_at - clock_timestamp()) * 1000), 0))::float8
    END AS "nextProbeMs",
  CASE WHEN breaker = 'open' AND jsonb_typeof(trouble->'failed') = 'number' THEN (trouble->>'failed')::float8 ELSE 0
    END AS "failedProbes"
FROM rollcall.pace, ${REFUSED} refused, LATERAL (SELECT CASE
  WHEN refused.since IS NOT NULL AND (breaker <> 'open' OR refused.of_all) THEN 'credentials'
  WHEN breaker = 'open' THEN 'outage' END AS cause) c WHERE id = 1`

/** Null where no pace was ever set: no worker has been started yet. */
export async function readPace(pool: Pick<Pool, 'query'>): Promise<PaceReport | null> {
  return (await pool.query<PaceReport>(REPORT)).rows[0] ?? null
}
