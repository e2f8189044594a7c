// The statements of runs that a person or a job asks for: one row of `drift_run` each, and the earlier ones.
import type { ClientBase } from 'pg'
import { iso } from '../ledger/sql.ts'
import { type Agenda, NOTHING_YET, type Waiting } from './agenda.ts'
import { BEGINNING, type Place } from './everybody.ts'
import { EMPTY_TALLY } from './tally.ts'
import type { Tally } from './words.ts'

type Client = Pick<ClientBase, 'query'>

/** What makes two calls the same run: the second goes on where the first one stopped. */
export type RunOptions = {
  readonly sample: number | null
  /** A keyed digest of the conditions; null: there are none. */
  readonly where: string | null
  readonly repair: boolean
  /** Of the mapping: by another one other customers differ. */
  readonly fingerprint: string
}

export type Run = {
  readonly id: string
  readonly seed: string
  /** ISO 8601, as below. */
  readonly startedAt: string
  readonly population: number
  readonly place: Place
  readonly agenda: Agenda
}

/** After so long what was found before says little about now. */
const GOES_ON_FOR = `interval '1 day'`

/** Another process has another monotonic clock: what is kept is how long is left to wait. */
type Kept = Omit<Waiting, 'at'> & { readonly inMs: number }

type Cursor = {
  readonly seed: string
  readonly place: Place
  readonly waiting: readonly Kept[]
  readonly suspected: number
  readonly found: readonly string[]
}

const OPEN = `
SELECT r.id::text, ${iso('started_at')} AS "startedAt", population::float8 AS population, cursor, tally
FROM rollcall.drift_run r
WHERE ended_at IS NULL AND options = $1::jsonb AND updated_at > clock_timestamp() - ${GOES_ON_FOR}
  AND cursor IS NOT NULL
ORDER BY r.id DESC LIMIT 1`

/** The one of the same options that was stopped, or whose process died. `nowMs`: monotonic, as in its agenda. */
export async function findRun(client: Client, options: RunOptions, nowMs: number): Promise<Run | null> {
  type Row = Pick<Run, 'id' | 'startedAt' | 'population'> & {
    readonly cursor: Cursor
    readonly tally: Partial<Tally>
  }
  const { rows } = await client.query<Row>(OPEN, [JSON.stringify(options)])
  const [row] = rows
  if (!row) return null
  const { cursor, tally: kept, ...run } = row
  const tally = { ...EMPTY_TALLY, ...kept }
  const { seed, place, ...rest } = cursor
  const waiting = cursor.waiting.map(({ inMs, ...each }) => ({ ...each, at: nowMs + inMs }))
  return { ...run, seed, place, agenda: { ...rest, waiting, tally } }
}

const END_OTHERS = `
UPDATE rollcall.drift_run SET ended_at = updated_at, outcome = 'stopped', cursor = NULL
WHERE ended_at IS NULL AND (options = $1::jsonb OR updated_at < clock_timestamp() - ${GOES_ON_FOR})`

const BEGIN = `
INSERT INTO rollcall.drift_run (options, population, sampled) VALUES ($1, $2, $3)
RETURNING id::text, ${iso('started_at')} AS "startedAt"`

/** Ends those that were stopped, of the same options or too long ago, and begins a new one. */
export async function beginRun(
  client: Client,
  options: RunOptions,
  { seed, population, sampled }: Beginning,
): Promise<Run> {
  const asked = JSON.stringify(options)
  await client.query(END_OTHERS, [asked])
  const { rows } = await client.query<{ id: string; startedAt: string }>(BEGIN, [asked, population, sampled])
  const [row] = rows
  if (!row) throw new Error('a run that is begun has a row')
  return { ...row, seed, population, place: BEGINNING, agenda: NOTHING_YET }
}

type Beginning = {
  /** A bigint as text. */
  readonly seed: string
  readonly population: number
  readonly sampled: number | null
}

export async function keepRun(
  client: Client,
  { id, seed, place, agenda }: Run,
  nowMs: number,
): Promise<void> {
  const { tally, suspected, found } = agenda
  const waiting = agenda.waiting.map(({ at, ...each }) => ({ ...each, inMs: Math.max(0, at - nowMs) }))
  const cursor: Cursor = { seed, place, waiting, suspected, found }
  await client.query(
    'UPDATE rollcall.drift_run SET cursor = $2, tally = $3, updated_at = clock_timestamp() WHERE id = $1',
    [id, JSON.stringify(cursor), JSON.stringify(tally)],
  )
}

const END = `
UPDATE rollcall.drift_run SET cursor = NULL, tally = $2, outcome = $3, updated_at = clock_timestamp(),
  ended_at = clock_timestamp() WHERE id = $1`

export async function endRun(
  client: Client,
  { id, agenda: { tally } }: Run,
  outcome: 'complete' | 'not-credible',
): Promise<void> {
  await client.query(END, [id, JSON.stringify(tally), outcome])
}

export type Past = {
  readonly endedAt: string
  readonly tally: Tally
  readonly sampled: boolean
  readonly credible: boolean
}

/** A run over a part of the customers is not one to compare others with, and neither is one that was stopped. */
const PAST = `
SELECT ${iso('ended_at')} AS "endedAt", tally, sampled IS NOT NULL AS sampled,
  outcome = 'complete' AS credible
FROM rollcall.drift_run
WHERE outcome IN ('complete', 'not-credible') AND options->>'where' IS NULL
  AND ended_at > (SELECT max(bound_at) FROM rollcall.target) AND ($1::bigint IS NULL OR id <> $1)
ORDER BY ended_at DESC LIMIT $2`

const SHOWN = 100

/** Runs about the present target, oldest first; without the one of this id. */
export async function readPast(client: Client, without: string | null): Promise<readonly Past[]> {
  const { rows } = await client.query<Past>(PAST, [without, SHOWN])
  return rows.toReversed().map((row) => ({ ...row, tally: { ...EMPTY_TALLY, ...row.tally } }))
}

/** ISO 8601, by the clock that all times of a run are of. */
export async function readTime(client: Client): Promise<string> {
  const { rows } = await client.query<{ now: string }>(`SELECT ${iso('clock_timestamp()')} AS now`)
  const [row] = rows
  if (!row) throw new Error('the time is one row')
  return row.now
}
