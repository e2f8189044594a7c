// Runs of `rollcall drift`, as they are stored among all runs: their cursor, and what earlier ones have found.
import type { Pool } from 'pg'
import { type Client, oneRow } from '../database/client.ts'
import { iso } from '../database/sql.ts'
import { beginRun, endRun, findRun, saveProgress } from '../ledger/runs.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Agenda, afterChecks, answered, closed, dueOf, NOTHING_YET, soFar, withNew } from './agenda.ts'
import { beginningOf, type Next, type Place } from './all-customers.ts'
import type { CheckCustomers } from './checking.ts'
import { readNotCredible } from './coverage.ts'
import type { AskSample } from './evidence.ts'
import { metSince } from './found.ts'
import { BATCHES_AT_ONCE } from './get-users.ts'
import { GATE_MS, type RunEnd, type RunGate } from './run-gate.ts'
import { EMPTY_TALLY, silenceOf } from './tally.ts'
import type { Checked, DriftTally, NotCredible } from './words.ts'

/** Options that make two calls the same run: the second resumes where the first one stopped. */
export type DriftOptions = {
  readonly sample: number | null
  /** A keyed digest of the conditions; null: there are none. */
  readonly where: string | null
  readonly repair: boolean
}

type AskedDrift = { readonly options: DriftOptions; readonly generation: string }

export type DriftRun = {
  readonly id: string
  /** A bigint as text. */
  readonly seed: string
  readonly startedAt: string
  readonly population: number
  readonly place: Place
  readonly agenda: Agenda
}

/** Another process has another monotonic clock: what is kept is how long is left to wait. */
type Kept = Omit<Agenda['waiting'][number], 'at'> & { readonly inMs: number }

type Cursor = Pick<DriftRun, 'seed' | 'place'> &
  Pick<Agenda, 'suspects' | 'found'> & { readonly waiting: readonly Kept[] }

/** The one that was stopped, or whose process died. `nowMs`: monotonic, as in its agenda. */
export async function findDrift(client: Client, asked: AskedDrift, nowMs: number): Promise<DriftRun | null> {
  const found = await findRun<Cursor, DriftTally>(client, { kind: 'drift', ...asked })
  if (!found?.cursor) return null
  const { seed, place, ...rest } = found.cursor
  const waiting = rest.waiting.map(({ inMs, ...each }) => ({ ...each, at: nowMs + inMs }))
  const agenda = { ...rest, waiting, tally: { ...EMPTY_TALLY, ...found.tally } }
  const { id, startedAt, total } = found
  return { id, startedAt, population: total ?? 0, seed, place, agenda }
}

type Beginning = Pick<DriftRun, 'seed' | 'population'>

export async function beginDrift(client: Client, asked: AskedDrift, { seed, population }: Beginning) {
  const run = { kind: 'drift', ...asked } as const
  const { id, startedAt } = await beginRun<Cursor, DriftTally>(client, run, population)
  const place = beginningOf(asked.options.sample)
  return { id, startedAt, population, seed, place, agenda: NOTHING_YET } satisfies DriftRun
}

export async function keepDrift(
  client: Client,
  { id, seed, place, agenda: { tally, ...agenda } }: DriftRun,
  { nowMs, fingerprint }: { readonly nowMs: number; readonly fingerprint: string },
): Promise<void> {
  const waiting = agenda.waiting.map(({ at, ...each }) => ({ ...each, inMs: Math.max(0, at - nowMs) }))
  const cursor: Cursor = { seed, place, ...agenda, waiting }
  await saveProgress(client, id, { cursor, tally, fingerprint })
}

export async function endDrift(client: Client, run: DriftRun, credible: boolean): Promise<void> {
  await endRun(client, run.id, { tally: run.agenda.tally, outcome: credible ? 'done' : 'not-credible' })
}

type Past = {
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
  return (await oneRow<{ now: string }>(client, `SELECT ${iso('clock_timestamp()')} AS now`)).now
}

type DriveOptions = {
  readonly pool: Pool
  /** The digest of its mapping. */
  readonly fingerprint: string
  readonly run: DriftRun
  readonly gate: RunGate
  readonly allCustomers: (from: Place) => AsyncGenerator<Next>
  readonly check: CheckCustomers
  readonly sample: AskSample
  readonly onChecks: (checked: readonly Checked[], run: DriftRun) => void
  /** From now on another process may go on with it. */
  readonly onKept: () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds; those of the run's agenda are by the same clock. */
  readonly now: () => number
  readonly signal: AbortSignal
}

const KEEP_MS = 1000

/**
 * Drives a run until no customer is left to check, or for as long as it makes sense. The run that it resolves to is kept
 * by then, and stays open: `endRun` ends it.
 */
export async function driveRun(options: DriveOptions) {
  const { pool, gate, check, now, signal, onChecks } = options
  let { run } = options
  const source = options.allCustomers(run.place)
  /** Under way, the oldest first. */
  const batches: ReturnType<typeof begin>[] = []
  let exhausted = false
  let sampled = false
  let keptAt = now()
  const silence = (over: boolean): NotCredible | null => silenceOf(soFar(run.agenda), { over })

  const going = go().finally(() => Promise.allSettled(batches.map(({ done }) => done)))
  const stopped = await going.catch((error): RunEnd => {
    // Drawing takes minutes of many customers, and is broken off.
    if (!signal.aborted || error !== signal.reason) throw error
    return { kind: 'stopped', why: 'asked' }
  })
  await keepNow()
  await source.return(undefined)
  const end = await concluded(stopped)
  const agenda = end.kind === 'not-credible' ? answered(run.agenda) : closed(run.agenda)
  return { run: { ...run, agenda }, end }

  async function go(): Promise<RunEnd> {
    for (;;) {
      const notCredible = silence(false) ?? (isAnyStrange() ? await sampleNotCredible() : null)
      if (notCredible) return { kind: 'not-credible', why: notCredible }
      const room = await gate.room(() => silence(true))
      if (typeof room === 'object') return room
      const underWay = new Set(batches.flatMap(({ keys }) => keys))
      const { due, newOnes, next } = dueOf(run.agenda, { nowMs: now(), room, underWay })
      const keys = [...due.map(({ key }) => key), ...(await take(newOnes))]
      if (keys.length > 0) batches.push(begin(keys))
      const oldest = batches.length === BATCHES_AT_ONCE || keys.length === 0 ? batches.shift() : null
      if (oldest) {
        if ((await oldest.done) === 'mapping') return { kind: 'refused', why: 'mapping' }
        if (now() >= keptAt) await keepNow()
      } else if (keys.length === 0) {
        if (exhausted && next === null) return { kind: 'complete' }
        await options.sleep(Math.min(GATE_MS, Math.max(1, (next ?? Infinity) - now())), signal)
      }
    }
  }

  /**
   * A person who stops a run because all users seem to be gone reads what that means. A service that says so of many
   * since a moment ago, or was not credible before, is asked once more.
   */
  async function concluded(ended: RunEnd): Promise<RunEnd> {
    if (ended.kind !== 'complete' && ended.kind !== 'stopped') return ended
    if (!signal.aborted) sampled = false
    const suspicious = isAnyStrange() || (!signal.aborted && (await readNotCredible(pool)) !== null)
    const notCredible = silence(true) ?? (suspicious ? await sampleNotCredible() : null)
    return notCredible ? { kind: 'not-credible', why: notCredible } : ended
  }

  function isAnyStrange(): boolean {
    const { vanished, kinds } = soFar(run.agenda)
    return vanished + (kinds.unreadable ?? 0) > 0
  }

  /** By users at random, who are asked once before the end. */
  async function sampleNotCredible(): Promise<NotCredible | null> {
    if (!sampled) sampled = (await options.sample(signal)) === null
    if (!(await readNotCredible(pool))) return null
    const { vanished, kinds } = soFar(run.agenda)
    return (kinds.unreadable ?? 0) > vanished ? 'no-answers' : 'many-missing'
  }

  /** An error is thrown once its turn comes. */
  function begin(keys: readonly CustomerKey[]) {
    const done = checkNow(keys)
    done.catch(() => undefined)
    return { keys, done }
  }

  async function checkNow(keys: readonly CustomerKey[]) {
    gate.spend(keys.length)
    const { checked, stopped } = await check(keys, signal)
    gate.giveBack(checked)
    const met = await metSince(pool, keys, run.startedAt)
    run = { ...run, agenda: afterChecks(run.agenda, { checked, met, nowMs: now() }) }
    onChecks(checked, run)
    return stopped
  }

  async function take(count: number): Promise<readonly CustomerKey[]> {
    const keys: CustomerKey[] = []
    while (keys.length < count && !exhausted) {
      const { value, done } = await source.next()
      exhausted = done === true
      if (done) break
      keys.push(value.key)
      run = { ...run, place: value.place }
    }
    run = { ...run, agenda: withNew(run.agenda, keys, now()) }
    return keys
  }

  /** Often enough that little is asked twice after a crash, and seldom enough that it costs next to nothing. */
  async function keepNow(): Promise<void> {
    const begun = now()
    await keepDrift(pool, run, { nowMs: begun, fingerprint: options.fingerprint })
    options.onKept()
    keptAt = now() + Math.max(KEEP_MS, (now() - begun) * 20)
  }
}
