// A run walks over all customers, or some: for a backfill, a mapping, a gap in capture, a check of capture, or a drift
// report. Each is one row: what it was asked for, how far it has come, and what it has found.
import type { ClientBase } from 'pg'
import { CURRENT_FINGERPRINT } from './generation.ts'
import { iso } from './sql.ts'

type Client = Pick<ClientBase, 'query'>

/**
 * Why everybody is looked at. `backfill`: somebody asked for it; `mapping`: another mapping was applied; `gap`: capture
 * had one; `resync`: the same look without one; `check`: whether capture has missed anything.
 */
export type SweepKind = 'backfill' | 'mapping' | 'gap' | 'resync' | 'check'

/** `drift`: a report of what the service has. */
type RunKind = SweepKind | 'drift'

/** Where a page begins: among the customers after a key, or among those who have a record and no row any more. */
export type Position = { readonly part: 'customers' | 'gone'; readonly after: readonly string[] | null }

/** What tells one run of a kind from another; anything that is written as JSON. */
export type RunOptions = Readonly<Record<string, unknown>>

export type AskedRun = {
  readonly kind: RunKind
  /** Of the mapping: by another one other customers differ. */
  readonly generation: string
  readonly options: RunOptions
  /** The gaps in capture that it closes at its end. */
  readonly marks?: readonly string[]
  /** See `captureVersion`. */
  readonly capture?: string
}

/** A run that has not ended: cursor and tally as they were stored; none at the start. */
export type Unfinished<Cursor, Tally> = {
  readonly id: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly cursor: Cursor | null
  /** Customers, as counted at its start. */
  readonly total: number | null
  readonly tally: Partial<Tally>
}

/** Whether the service is asked before somebody is registered says nothing of whom a sweep is for. */
export const FOR_EVERYBODY = `options - 'lookup' = '{}'`

/** The same, of options that are at hand. */
export function isForEverybody(options: RunOptions): boolean {
  return Object.keys(options).every((name) => name === 'lookup')
}

/** What a report found longer ago says little about now. */
const TOO_OLD = `kind = 'drift' AND updated_at < clock_timestamp() - interval '1 day'`

const FOUND = `
SELECT id::text, ${iso('started_at')} AS "startedAt", cursor, total::float8 AS total, tally FROM rollcall.run
WHERE kind = $1 AND ended_at IS NULL AND generation = $2 AND options = $3 AND marks = $4::bigint[] AND capture = $5
  AND NOT (${TOO_OLD})
ORDER BY id DESC LIMIT 1`

/** The unfinished one that was asked for in the same way, which goes on where it stopped. */
export async function findRun<Cursor, Tally>(
  client: Client,
  asked: AskedRun,
): Promise<Unfinished<Cursor, Tally> | null> {
  const { rows } = await client.query<Unfinished<Cursor, Tally>>(FOUND, valuesOf(asked))
  return rows[0] ?? null
}

/** Of sweeps one of a kind is unfinished at most; of reports one of each that somebody may ask for again. */
const REPLACED = `
UPDATE rollcall.run SET outcome = 'replaced', cursor = NULL, ended_at = clock_timestamp()
WHERE ended_at IS NULL AND kind = $1 AND (kind <> 'drift' OR options = $2 OR ${TOO_OLD})`

const BEGUN = `
INSERT INTO rollcall.run (kind, generation, options, marks, capture, total)
VALUES ($1, $2, $3, $4::bigint[], $5, $6) RETURNING id::text, ${iso('started_at')} AS "startedAt"`

/** Begins one anew, in place of those that were unfinished. Only its owner calls this; see `alone`. */
export async function beginRun<Cursor, Tally>(
  client: Client,
  asked: AskedRun,
  total: number | null,
): Promise<Unfinished<Cursor, Tally>> {
  await client.query(REPLACED, [asked.kind, JSON.stringify(asked.options)])
  const { rows } = await client.query<{ id: string; startedAt: string }>(BEGUN, [...valuesOf(asked), total])
  if (!rows[0]) throw new Error('an insert gives its row')
  return { ...rows[0], cursor: null, total, tally: {} }
}

function valuesOf({ kind, generation, options, marks = [], capture = '' }: AskedRun): unknown[] {
  return [kind, generation, JSON.stringify(options), marks, capture]
}

const KEPT = `
UPDATE rollcall.run SET cursor = $2, tally = $3, updated_at = clock_timestamp()
WHERE id = $1 AND ended_at IS NULL AND ${CURRENT_FINGERPRINT} = $4 RETURNING id`

type Progress = { readonly cursor: object | null; readonly tally: object; readonly fingerprint: string }

/** False: another mapping was applied, or it was ended by somebody else. */
export async function keepRun(
  client: Client,
  id: string,
  { cursor, tally, fingerprint }: Progress,
): Promise<boolean> {
  const values = [id, cursor && JSON.stringify(cursor), JSON.stringify(tally), fingerprint]
  return (await client.query(KEPT, values)).rowCount === 1
}

const ENDED = `
UPDATE rollcall.run SET outcome = $3, tally = $2, cursor = NULL, ended_at = clock_timestamp(), updated_at = clock_timestamp()
WHERE id = $1 AND ended_at IS NULL`

/** Of each kind the last hundred; and of each sweep the last one that went through, since it tells what was done. */
const PRUNED = `
DELETE FROM rollcall.run r
WHERE ended_at IS NOT NULL
  AND (SELECT count(*) FROM (SELECT FROM rollcall.run later WHERE later.kind = r.kind AND later.id > r.id LIMIT 100) l) = 100
  AND (kind = 'drift' OR EXISTS (SELECT FROM rollcall.run later
    WHERE later.kind = r.kind AND later.options = r.options AND later.outcome = 'done' AND later.id > r.id))`

/** `not-credible`: of a report whose answers could not be believed. False: it was ended by somebody else. */
export async function endRun(
  client: Client,
  id: string,
  { tally, outcome }: { readonly tally: object; readonly outcome: 'done' | 'not-credible' },
): Promise<boolean> {
  const { rowCount } = await client.query(ENDED, [id, JSON.stringify(tally), outcome])
  await client.query(PRUNED)
  return rowCount === 1
}

/** Nobody goes on with them: another mapping was applied, or everybody has been looked at since. */
export async function dropRuns(client: Client, which: { id: string } | { kind: RunKind }): Promise<void> {
  await client.query(
    `UPDATE rollcall.run SET outcome = 'replaced', cursor = NULL, ended_at = clock_timestamp()
     WHERE (id = $1 OR kind = $2) AND ended_at IS NULL`,
    'id' in which ? [which.id, null] : [null, which.kind],
  )
}
