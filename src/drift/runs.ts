// Runs of `rollcall drift`, as they are stored among all runs: their cursor, and what earlier ones have found.
import type { ClientBase } from 'pg'
import { beginRun, endRun, findRun, keepRun, type Unfinished } from '../ledger/runs.ts'
import { iso } from '../ledger/sql.ts'
import { type Agenda, NOTHING_YET, type WaitingCheck } from './agenda.ts'
import { beginningOf, type Place } from './everybody.ts'
import { EMPTY_TALLY } from './tally.ts'
import type { DriftTally } from './words.ts'

type Client = Pick<ClientBase, 'query'>

/** What makes two calls the same run: the second goes on where the first one stopped. */
export type DriftOptions = {
  readonly sample: number | null
  /** A keyed digest of the conditions; null: there are none. */
  readonly where: string | null
  readonly repair: boolean
}

/** `generation`: of the mapping. */
type AskedDrift = { readonly options: DriftOptions; readonly generation: string }

export type DriftRun = {
  readonly id: string
  /** A bigint as text. */
  readonly seed: string
  /** ISO 8601, as below. */
  readonly startedAt: string
  readonly population: number
  readonly place: Place
  readonly agenda: Agenda
}

/** Another process has another monotonic clock: what is kept is how long is left to wait. */
type Kept = Omit<WaitingCheck, 'at'> & { readonly inMs: number }

type Cursor = Pick<DriftRun, 'seed' | 'place'> &
  Pick<Agenda, 'suspects' | 'found'> & { readonly waiting: readonly Kept[] }

/** The one that was stopped, or whose process died. `nowMs`: monotonic, as in its agenda. */
export async function findDrift(client: Client, asked: AskedDrift, nowMs: number): Promise<DriftRun | null> {
  const found = await findRun<Cursor, DriftTally>(client, { kind: 'drift', ...asked })
  if (!found?.cursor) return null
  const { seed, place, ...rest } = found.cursor
  const waiting = rest.waiting.map(({ inMs, ...each }) => ({ ...each, at: nowMs + inMs }))
  const agenda = { ...rest, waiting, tally: { ...EMPTY_TALLY, ...found.tally } }
  return { ...begunAs(found), seed, place, agenda }
}

export async function beginDrift(
  client: Client,
  asked: AskedDrift,
  { seed, population }: Pick<DriftRun, 'seed' | 'population'>,
): Promise<DriftRun> {
  const begun = await beginRun<Cursor, DriftTally>(client, { kind: 'drift', ...asked }, population)
  return { ...begunAs(begun), seed, place: beginningOf(asked.options.sample), agenda: NOTHING_YET }
}

function begunAs({ id, startedAt, total }: Unfinished<unknown, unknown>) {
  return { id, startedAt, population: total ?? 0 }
}

export async function keepDrift(
  client: Client,
  { id, seed, place, agenda: { tally, ...agenda } }: DriftRun,
  { nowMs, fingerprint }: { readonly nowMs: number; readonly fingerprint: string },
): Promise<void> {
  const waiting = agenda.waiting.map(({ at, ...each }) => ({ ...each, inMs: Math.max(0, at - nowMs) }))
  const cursor: Cursor = { seed, place, ...agenda, waiting }
  await keepRun(client, id, { cursor, tally, fingerprint })
}

export async function endDrift(
  client: Client,
  { id, agenda: { tally } }: DriftRun,
  credible: boolean,
): Promise<void> {
  await endRun(client, id, { tally, outcome: credible ? 'done' : 'not-credible' })
}

export type Past = {
  readonly endedAt: string
  readonly tally: DriftTally
  readonly sampled: boolean
  readonly credible: boolean
}

/** A run over a part of the customers is not one to compare others with, and neither is one that was stopped. */
const PAST = `
SELECT ${iso('ended_at')} AS "endedAt", tally, options->>'sample' IS NOT NULL AS sampled,
  outcome = 'done' AS credible
FROM rollcall.run
WHERE kind = 'drift' AND outcome IN ('done', 'not-credible') AND options->>'where' IS NULL
  AND ended_at > (SELECT max(bound_at) FROM rollcall.target) AND ($1::bigint IS NULL OR id <> $1)
ORDER BY ended_at DESC LIMIT 100`

/** Runs about the present target, oldest first; without the one of this id. */
export async function readPast(client: Client, without: string | null): Promise<readonly Past[]> {
  const { rows } = await client.query<Past>(PAST, [without])
  return rows.toReversed().map((row) => ({ ...row, tally: { ...EMPTY_TALLY, ...row.tally } }))
}

/** ISO 8601, by the clock that all times of a run are of. */
export async function readTime(client: Client): Promise<string> {
  const { rows } = await client.query<{ now: string }>(`SELECT ${iso('clock_timestamp()')} AS now`)
  const [row] = rows
  if (!row) throw new Error('the time is one row')
  return row.now
}
