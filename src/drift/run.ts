// One run over customers that a person or a job asked for: looks, second looks, and an end that can be believed.
import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { afterLooks, answered, closed, dueOf, nextAt, soFar } from './agenda.ts'
import { readDoubt } from './coverage.ts'
import type { Next, Place } from './everybody.ts'
import { BEAT_MS, type RunEnd, type RunGate } from './gate.ts'
import { metSince } from './meanwhile.ts'
import { type DriftRun, keepDrift } from './runs.ts'
import type { AskSample } from './sample.ts'
import { silenceOf } from './tally.ts'
import type { Verify } from './verify.ts'
import type { Doubt, Verified } from './words.ts'

type DriveOptions = {
  readonly pool: Pool
  /** Of the mapping that it goes by. */
  readonly fingerprint: string
  readonly run: DriftRun
  readonly gate: RunGate
  readonly everybody: (from: Place) => AsyncGenerator<Next>
  readonly verify: Verify
  readonly sample: AskSample
  readonly onLooks: (verified: readonly Verified[], run: DriftRun) => void
  /** From now on another process may go on with it. */
  readonly onKept: () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds; those of the run's agenda are by the same clock. */
  readonly now: () => number
  readonly signal: AbortSignal
}

const KEEP_MS = 1000

/**
 * Drives a run until nobody is left to look at, or for as long as it makes sense. What it has found is in the run that it
 * resolves to; it is kept by then, and stays open: `endRun` ends it.
 */
export async function driveRun(
  options: DriveOptions,
): Promise<{ readonly run: DriftRun; readonly end: RunEnd }> {
  const { pool, gate, verify, now, signal, onLooks } = options
  let { run } = options
  const source = options.everybody(run.place)
  let exhausted = false
  let sampled = false
  let keptAt = now()

  const end = await unlessStopped(go)
  await keepNow()
  await source.return(undefined)
  const told = await concluded(end)
  const agenda = told.kind === 'not-credible' ? answered(run.agenda) : closed(run.agenda)
  return { run: { ...run, agenda }, end: told }

  async function go(): Promise<RunEnd> {
    for (;;) {
      const doubt = silence(false) ?? (isAnyStrange() ? await doubtOfSample() : null)
      if (doubt) return { kind: 'not-credible', why: doubt }
      const gated = await gate.room(() => silence(true))
      if (typeof gated === 'object') return gated
      const { due, newOnes } = dueOf(run.agenda, now(), gated)
      const fresh = await take(newOnes)
      const keys = [...due.map(({ key }) => key), ...fresh]
      if (keys.length === 0 && exhausted && nextAt(run.agenda) === null) return { kind: 'complete' }
      if (keys.length === 0) {
        await options.sleep(untilNext(nextAt(run.agenda), now()), signal)
        continue
      }
      const stopped = await look(keys, fresh)
      if (stopped === 'mapping') return { kind: 'refused', why: 'mapping' }
    }
  }

  /**
   * Also whoever stops it because everybody seems to be gone is told what that means, and not who. A service that says so
   * of many since a moment ago is not one with which all others agree: so it is asked once more. A doubt of before ends
   * so too.
   */
  async function concluded(ended: RunEnd): Promise<RunEnd> {
    if (ended.kind !== 'complete' && ended.kind !== 'stopped') return ended
    if (!signal.aborted) sampled = false
    const doubtful = isAnyStrange() || (!signal.aborted && (await readDoubt(pool)) !== null)
    const doubt = silence(true) ?? (doubtful ? await doubtOfSample() : null)
    return doubt ? { kind: 'not-credible', why: doubt } : ended
  }

  function silence(over: boolean): Doubt | null {
    return silenceOf(soFar(run.agenda), { over })
  }

  function isAnyStrange(): boolean {
    const { vanished, kinds } = soFar(run.agenda)
    return vanished + (kinds.unreadable ?? 0) > 0
  }

  /** By users at random, who are asked once before the end. */
  async function doubtOfSample(): Promise<Doubt | null> {
    if (!sampled) sampled = (await options.sample(signal)) === null
    if (!(await readDoubt(pool))) return null
    const { vanished, kinds } = soFar(run.agenda)
    return (kinds.unreadable ?? 0) > vanished ? 'no-answers' : 'nobody-there'
  }

  /** Drawing takes minutes of many customers, and is broken off. */
  async function unlessStopped(work: () => Promise<RunEnd>): Promise<RunEnd> {
    try {
      return await work()
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error
      return { kind: 'stopped', why: 'asked' }
    }
  }

  async function look(keys: readonly CustomerKey[], fresh: readonly CustomerKey[]) {
    const { verified, stopped } = await verify(keys, signal)
    gate.spent(verified)
    const asked = verified.map(({ key }) => key)
    const met = await metSince(pool, asked, run.startedAt)
    run = { ...run, agenda: afterLooks(run.agenda, { verified, fresh, met, nowMs: now() }) }
    onLooks(verified, run)
    await keep()
    return stopped
  }

  async function take(count: number): Promise<readonly CustomerKey[]> {
    const keys: CustomerKey[] = []
    while (keys.length < count && !exhausted) {
      const next = await pulled()
      if (!next) break
      keys.push(next.key)
      run = { ...run, place: next.place }
    }
    return keys
  }

  async function pulled(): Promise<Next | null> {
    const { value, done } = await source.next()
    exhausted = done === true
    return done ? null : value
  }

  /** Often enough that little is asked twice after a crash, and seldom enough that it costs next to nothing. */
  async function keep(): Promise<void> {
    const begun = now()
    if (begun < keptAt) return
    await keepNow()
    const took = now() - begun
    keptAt = begun + took + Math.max(KEEP_MS, took * 20)
  }

  async function keepNow(): Promise<void> {
    await keepDrift(pool, run, { nowMs: now(), fingerprint: options.fingerprint })
    options.onKept()
  }
}

function untilNext(at: number | null, nowMs: number): number {
  return at === null ? BEAT_MS : Math.min(BEAT_MS, Math.max(1, at - nowMs))
}
