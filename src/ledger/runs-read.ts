// What there is to tell of sweeps.
import type { ClientBase } from 'pg'
import { CURRENT_GENERATION } from './generation.ts'
import { FOR_EVERYBODY, type RunOptions, type SweepKind } from './runs.ts'

type Client = Pick<ClientBase, 'query'>

/**
 * A look at everybody that tells what capture has missed, and after which the next check of it can wait. A time of the
 * future is one before the clock was set back: nobody knows how long ago that was.
 */
const LOOKED = `${FOR_EVERYBODY} AND outcome = 'done' AND tally->'checked' = 'true' AND ended_at <= clock_timestamp()`

/** Whether everybody was last looked at longer ago than this; where nobody ever was, since the first mapping. */
export async function checkIsDue(client: Client, everyHours: number): Promise<boolean> {
  if (everyHours === 0) return false
  const { rows } = await client.query<{ due: boolean }>(
    `SELECT coalesce((SELECT max(ended_at) FROM rollcall.run WHERE ${LOOKED}), (SELECT min(applied_at) FROM rollcall.generation))
       NOT BETWEEN clock_timestamp() - $1 * interval '1 hour' AND clock_timestamp() AS due`,
    [everyHours],
  )
  return rows[0]?.due === true
}

/** A person has said of a TRUNCATE that nobody is to be looked at for it, since everybody was looked at last. */
export async function truncateWasDismissed(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ dismissed: boolean }>(
    `SELECT EXISTS (SELECT FROM rollcall.capture_mark
       WHERE kind = 'truncate' AND resynced_at IS NOT NULL AND resync_after IS NULL
         AND resynced_at > coalesce((SELECT max(started_at) FROM rollcall.run WHERE ${LOOKED}), '-infinity')) AS dismissed`,
  )
  return rows[0]?.dismissed === true
}

export type SweepReport = {
  readonly kind: SweepKind
  readonly options: RunOptions
  /** ISO 8601 in UTC. */
  readonly startedAt: string
  readonly updatedAt: string
  /** Null: it is under way, or it waits for somebody to go on with it. */
  readonly endedAt: string | null
  /** No page was brought to its end for so long. */
  readonly silentMs: number
  readonly total: number | null
  readonly customers: number
  readonly differ: number
  readonly missed: Missed
}

/** What became of rows while nothing captured it. */
export const MISSED_HOW = ['inserted', 'changed', 'deleted'] as const
/** Rows that were written so. */
export type Missed = Readonly<Record<(typeof MISSED_HOW)[number], number>>

export type SweepsReport = {
  /** By the present mapping; nobody goes on with one by another. */
  readonly unfinished: readonly SweepReport[]
  /** The last that went through of those who tell what capture has missed. */
  readonly check: SweepReport | null
  /** What was found since by others: for some customers only, or not brought to their end. */
  readonly missedSince: Missed
}

const UNFINISHED = `kind <> 'drift' AND ended_at IS NULL AND generation = ${CURRENT_GENERATION}`

const ISO = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`

const REPORT = `
SELECT kind, options, ${ISO('started_at')} AS "startedAt", ${ISO('updated_at')} AS "updatedAt",
  ${ISO('ended_at')} AS "endedAt", total::float8 AS total,
  (extract(epoch FROM clock_timestamp() - updated_at) * 1000)::float8 AS "silentMs",
  coalesce((tally->>'customers')::float8, 0) AS customers,
  coalesce((tally->'verdicts'->>'differs')::float8, 0) AS differ,
  coalesce(tally->'missed', '{"inserted": 0, "changed": 0, "deleted": 0}') AS missed
FROM rollcall.run`

const SINCE = `
WITH checked AS (SELECT id, ended_at FROM rollcall.run WHERE ${LOOKED} ORDER BY ended_at DESC LIMIT 1)
SELECT coalesce(sum((tally->'missed'->>'inserted')::float8), 0) AS inserted,
  coalesce(sum((tally->'missed'->>'changed')::float8), 0) AS changed,
  coalesce(sum((tally->'missed'->>'deleted')::float8), 0) AS deleted
FROM rollcall.run LEFT JOIN checked ON true
WHERE run.id IS DISTINCT FROM checked.id AND updated_at <= clock_timestamp()
  AND updated_at > coalesce(checked.ended_at, '-infinity')`

/**
 * Whoever was missed is owed a sync by the sweep that has found it, so that no later one finds it again: what one for
 * some customers has found stands beside the last check until another check has ended, or nobody would hear of it.
 */
export async function readSweeps(client: Client): Promise<SweepsReport> {
  const unfinished = await client.query<SweepReport>(`${REPORT} WHERE ${UNFINISHED} ORDER BY id`)
  const check = await client.query<SweepReport>(`${REPORT} WHERE ${LOOKED} ORDER BY ended_at DESC LIMIT 1`)
  const since = await client.query<Missed>(SINCE)
  const missedSince = since.rows[0] ?? { inserted: 0, changed: 0, deleted: 0 }
  return { unfinished: unfinished.rows, check: check.rows[0] ?? null, missedSince }
}

/** The unfinished backfill; `same`: it is for the same customers, in the same way. */
type OtherBackfill = { readonly id: string; readonly same: boolean }

export async function readOtherBackfill(client: Client, options: RunOptions): Promise<OtherBackfill | null> {
  const { rows } = await client.query<OtherBackfill>(
    `SELECT id::text, options = $1 AS same FROM rollcall.run WHERE kind = 'backfill' AND ended_at IS NULL`,
    [JSON.stringify(options)],
  )
  return rows[0] ?? null
}

/** What a run has found, once it has gone through; null before, and where it was given up. */
export async function readDone<Tally>(client: Client, id: string): Promise<Partial<Tally> | null> {
  const { rows } = await client.query<{ tally: Partial<Tally> }>(
    `SELECT tally FROM rollcall.run WHERE id = $1 AND outcome = 'done'`,
    [id],
  )
  return rows[0]?.tally ?? null
}

/**
 * Everybody was brought in once: from then on a customer of whom nothing is recorded is one whom capture has missed,
 * and not one who was there before it.
 */
export async function everybodyIsIn(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ done: boolean }>(
    `SELECT EXISTS (SELECT FROM rollcall.run
       WHERE kind IN ('backfill', 'resync', 'gap') AND outcome = 'done' AND ${FOR_EVERYBODY}) AS done`,
  )
  return rows[0]?.done === true
}
