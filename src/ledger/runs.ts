// A run walks over all customers, or some: for a backfill, a mapping, a gap in capture, a check of capture, or a drift
// report. Each is one row: what it was asked for, how far it has come, and what it has found.
import { type Client, oneRow } from '../database/client.ts'
import { iso, isoSeconds, ms } from '../database/sql.ts'
import { CURRENT_FINGERPRINT, CURRENT_GENERATION } from './generation.ts'

/**
 * Why all customers are planned. `backfill`: a person asked for it; `mapping`: another mapping was applied; `gap`: capture
 * had one; `resync`: the same sweep without one; `check`: whether capture has missed anything.
 */
export type SweepKind = 'backfill' | 'mapping' | 'gap' | 'resync' | 'check'

/** `drift`: a report of what the service has. */
type RunKind = SweepKind | 'drift'

/** Where a page begins: among the customers after a key, or among those who have a record and no row any more. */
export type Position = { readonly part: 'customers' | 'gone'; readonly after: readonly string[] | null }

/** Options that tell one run of a kind from another; anything that is written as JSON. */
export type RunOptions = Readonly<Record<string, unknown>>

export type WantedRun = {
  readonly kind: RunKind
  /** Generation of the mapping: under another one, other customers differ. */
  readonly generation: string
  readonly options: RunOptions
  readonly marks?: readonly string[]
  readonly capture?: string
}

/** A run that has not ended: cursor and tally as they were stored; none at the start. */
type Unfinished<Cursor, Tally> = {
  readonly id: string
  readonly startedAt: string
  readonly cursor: Cursor | null
  readonly total: number | null
  readonly tally: Partial<Tally>
}

/** Whether the service is asked before a customer is registered does not say which customers a sweep is for. */
const FOR_ALL = `options - 'lookup' = '{}'`

/** The same, of options that are at hand. */
export function isForAll(options: RunOptions): boolean {
  return Object.keys(options).every((name) => name === 'lookup')
}

/** An older report says little about now. */
const TOO_OLD = `kind = 'drift' AND updated_at < clock_timestamp() - interval '1 day'`

const FOUND = `
SELECT id::text, ${iso('started_at')} AS "startedAt", cursor, total::float8 AS total, tally FROM rollcall.run
WHERE kind = $1 AND ended_at IS NULL AND generation = $2 AND options = $3 AND marks = $4::bigint[] AND capture = $5
  AND NOT (${TOO_OLD})
ORDER BY id DESC LIMIT 1`

/** The unfinished one that was asked for in the same way, which goes on where it stopped. */
export async function findRun<Cursor, Tally>(
  client: Client,
  wanted: WantedRun,
): Promise<Unfinished<Cursor, Tally> | null> {
  return (await client.query<Unfinished<Cursor, Tally>>(FOUND, valuesOf(wanted))).rows[0] ?? null
}

/** For `WHERE`: in place of these another one is begun, or they are given up. */
const REPLACE = `UPDATE rollcall.run SET outcome = 'replaced', cursor = NULL, ended_at = clock_timestamp()
WHERE ended_at IS NULL AND`

/** At most one sweep of a kind is unfinished, and one report of each kind that may be asked for again. */
const REPLACED = `${REPLACE} kind = $1 AND (kind <> 'drift' OR options = $2 OR ${TOO_OLD})`

const BEGUN = `
INSERT INTO rollcall.run (kind, generation, options, marks, capture, total)
VALUES ($1, $2, $3, $4::bigint[], $5, $6) RETURNING id::text, ${iso('started_at')} AS "startedAt"`

/** Begins one anew, in place of those that were unfinished. Only its owner calls this; see `alone`. */
export async function beginRun<Cursor, Tally>(
  client: Client,
  wanted: WantedRun,
  total: number | null,
): Promise<Unfinished<Cursor, Tally>> {
  await client.query(REPLACED, [wanted.kind, JSON.stringify(wanted.options)])
  const values = [...valuesOf(wanted), total]
  const begun = await oneRow<{ id: string; startedAt: string }>(client, BEGUN, values)
  return { ...begun, cursor: null, total, tally: {} }
}

function valuesOf({ kind, generation, options, marks = [], capture = '' }: WantedRun): unknown[] {
  return [kind, generation, JSON.stringify(options), marks, capture]
}

const PROGRESS = `
UPDATE rollcall.run SET cursor = $2, tally = $3, updated_at = clock_timestamp()
WHERE id = $1 AND ended_at IS NULL AND ${CURRENT_FINGERPRINT} = $4 RETURNING id`

type Progress = { readonly cursor: object | null; readonly tally: object; readonly fingerprint: string }

/** False: another mapping was applied, or another process ended it. */
export async function saveProgress(
  client: Client,
  id: string,
  { cursor, tally, fingerprint }: Progress,
): Promise<boolean> {
  const values = [id, cursor && JSON.stringify(cursor), JSON.stringify(tally), fingerprint]
  return (await client.query(PROGRESS, values)).rowCount === 1
}

const ENDED = `
UPDATE rollcall.run SET outcome = $3, tally = $2, cursor = NULL, ended_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE id = $1 AND ended_at IS NULL`

/** Keeps the last hundred of each kind, and the last finished one of each sweep, since it tells what was done. */
const PRUNED = `
DELETE FROM rollcall.run r
WHERE ended_at IS NOT NULL
  AND (SELECT count(*) FROM (SELECT FROM rollcall.run later WHERE later.kind = r.kind AND later.id > r.id LIMIT 100) l) = 100
  AND (kind = 'drift' OR EXISTS (SELECT FROM rollcall.run later
    WHERE later.kind = r.kind AND later.options = r.options AND later.outcome = 'done' AND later.id > r.id))`

/** `not-credible`: of a report whose answers were not credible. False: another process ended it. */
export async function endRun(
  client: Client,
  id: string,
  { tally, outcome }: { readonly tally: object; readonly outcome: 'done' | 'not-credible' },
): Promise<boolean> {
  const { rowCount } = await client.query(ENDED, [id, JSON.stringify(tally), outcome])
  await client.query(PRUNED)
  return rowCount === 1
}

/** Another mapping was applied, or all customers have been planned since. */
export async function dropRuns(client: Client, which: { id: string } | { kind: RunKind }): Promise<void> {
  const values = 'id' in which ? [which.id, null] : [null, which.kind]
  await client.query(`${REPLACE} (id = $1 OR kind = $2)`, values)
}

/** The unfinished backfill; `same`: it is for the same customers, in the same way. */
export async function readOtherBackfill(
  client: Client,
  options: RunOptions,
): Promise<{ readonly same: boolean } | null> {
  const found = `SELECT options = $1 AS same FROM rollcall.run WHERE kind = 'backfill' AND ended_at IS NULL`
  return (await client.query<{ same: boolean }>(found, [JSON.stringify(options)])).rows[0] ?? null
}

async function holds(client: Client, condition: string, values: unknown[] = []): Promise<boolean> {
  return (await oneRow<{ holds: boolean }>(client, `SELECT (${condition}) IS TRUE AS holds`, values)).holds
}

/** All customers were brought in once: a customer about which nothing is recorded is one that capture has missed since. */
export async function allAreBroughtIn(client: Client): Promise<boolean> {
  const done = `kind IN ('backfill', 'resync', 'gap') AND outcome = 'done' AND ${FOR_ALL}`
  return await holds(client, `EXISTS (SELECT FROM rollcall.run WHERE ${done})`)
}

/**
 * A sweep of all customers that tells what capture has missed, and after which the next check of it can wait. A time of the
 * future is one before the clock was set back: it is not known how long ago that was.
 */
const CHECKED = `${FOR_ALL} AND outcome = 'done' AND tally->'checked' = 'true' AND ended_at <= clock_timestamp()`

/**
 * Whether all customers were last planned longer ago than this; where they never were, since the first mapping. Or under
 * another version of capture (`captureVersion`): a table was put back with its triggers, a partition has gone.
 */
export async function checkIsDue(client: Client, everyHours: number, capture: string): Promise<boolean> {
  if (everyHours === 0) return false
  return await holds(
    client,
    `(SELECT capture FROM rollcall.run WHERE ${CHECKED} ORDER BY ended_at DESC LIMIT 1) <> $2 OR coalesce((SELECT max(ended_at) FROM rollcall.run WHERE ${CHECKED}), (SELECT min(applied_at) FROM rollcall.generation))
       NOT BETWEEN clock_timestamp() - $1 * interval '1 hour' AND clock_timestamp()`,
    [everyHours, capture],
  )
}

/** A person has decided that a TRUNCATE needs no sweep, since all customers were planned last. */
export async function truncateWasDismissed(client: Client): Promise<boolean> {
  return await holds(
    client,
    `EXISTS (SELECT FROM rollcall.capture_mark
       WHERE kind = 'truncate' AND resynced_at IS NOT NULL AND resync_after IS NULL
         AND resynced_at > coalesce((SELECT max(started_at) FROM rollcall.run WHERE ${CHECKED}), '-infinity'))`,
  )
}

/** The fate of rows that changed while nothing captured it. */
export const MISSED_HOW = ['inserted', 'changed', 'deleted'] as const
export type Missed = Readonly<Record<(typeof MISSED_HOW)[number], number>>

export type SweepReport = {
  readonly kind: SweepKind
  readonly options: RunOptions
  readonly startedAt: string
  readonly updatedAt: string
  /** Null: it is under way, or it waits for a process to go on with it. */
  readonly endedAt: string | null
  /** No page was brought to its end for so long. */
  readonly silentMs: number
  readonly total: number | null
  readonly customers: number
  readonly differ: number
  readonly missed: Missed
}

export type SweepsReport = {
  /** With the active mapping; one with another mapping is not continued. */
  readonly unfinished: readonly SweepReport[]
  /** The last that went through of those who tell what capture has missed. */
  readonly check: SweepReport | null
  /** Findings since then of other sweeps: those for some customers only, or not finished. */
  readonly missedSince: Missed
}

const REPORT = `
SELECT kind, options, ${isoSeconds('started_at')} AS "startedAt", ${isoSeconds('updated_at')} AS "updatedAt",
  ${isoSeconds('ended_at')} AS "endedAt", total::float8 AS total,
  ${ms('clock_timestamp() - updated_at')} AS "silentMs",
  coalesce((tally->>'customers')::float8, 0) AS customers,
  coalesce((tally->'verdicts'->>'differs')::float8, 0) AS differ,
  coalesce(tally->'missed', '{"inserted": 0, "changed": 0, "deleted": 0}') AS missed
FROM rollcall.run`

const UNFINISHED = `${REPORT} WHERE kind <> 'drift' AND ended_at IS NULL AND generation = ${CURRENT_GENERATION} ORDER BY id`

const CHECK = `${REPORT} WHERE ${CHECKED} ORDER BY ended_at DESC LIMIT 1`

const SINCE = `
WITH checked AS (SELECT id, ended_at FROM rollcall.run WHERE ${CHECKED} ORDER BY ended_at DESC LIMIT 1)
SELECT ${MISSED_HOW.map((how) => `coalesce(sum((tally->'missed'->>'${how}')::float8), 0) AS ${how}`).join(', ')}
FROM rollcall.run LEFT JOIN checked ON true
WHERE run.id IS DISTINCT FROM checked.id AND updated_at <= clock_timestamp()
  AND updated_at > coalesce(checked.ended_at, '-infinity')`

/**
 * A missed customer is owed a sync by the sweep that has found it, so that no later one finds it again: what one for
 * some customers has found stands beside the last check until another check has ended, or it would not be reported.
 */
export async function readSweeps(client: Client): Promise<SweepsReport> {
  const unfinished = await client.query<SweepReport>(UNFINISHED)
  const check = await client.query<SweepReport>(CHECK)
  const missedSince = await oneRow<Missed>(client, SINCE)
  return { unfinished: unfinished.rows, check: check.rows[0] ?? null, missedSince }
}
