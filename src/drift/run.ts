// One run over customers that a person or a job asked for: checks, second checks, and an end that is credible.
import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { afterLooks, answered, closed, dueOf, nextAt, soFar } from './agenda.ts'
import { readDoubt } from './coverage.ts'
import type { Next, Place } from './everybody.ts'
import { metSince } from './found.ts'
import { BEAT_MS, type RunEnd, type RunGate } from './gate.ts'
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
 * Drives a run until no customer is left to check, or for as long as it makes sense. The run that it resolves to is kept
 * by then, and stays open: `endRun` ends it.
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

  const stopped = await go().catch((error): RunEnd => {
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
      const doubt = silence(false) ?? (isAnyStrange() ? await doubtOfSample() : null)
      if (doubt) return { kind: 'not-credible', why: doubt }
      const room = await gate.room(() => silence(true))
      if (typeof room === 'object') return room
      const { due, newOnes } = dueOf(run.agenda, now(), room)
      const fresh = await take(newOnes)
      const keys = [...due.map(({ key }) => key), ...fresh]
      const next = nextAt(run.agenda)
      if (keys.length > 0) {
        if ((await look(keys, fresh)) === 'mapping') return { kind: 'refused', why: 'mapping' }
      } else {
        if (exhausted && next === null) return { kind: 'complete' }
        const waitMs = next === null ? BEAT_MS : Math.min(BEAT_MS, Math.max(1, next - now()))
        await options.sleep(waitMs, signal)
      }
    }
  }

  /**
   * A person who stops a run because all users seem to be gone is told what that means. A service that says so of many
   * since a moment ago, or was doubted before, is asked once more.
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

  async function look(keys: readonly CustomerKey[], fresh: readonly CustomerKey[]) {
    const { verified, stopped } = await verify(keys, signal)
    gate.spent(verified)
    const asked = verified.map(({ key }) => key)
    const met = await metSince(pool, asked, run.startedAt)
    run = { ...run, agenda: afterLooks(run.agenda, { verified, fresh, met, nowMs: now() }) }
    onLooks(verified, run)
    if (now() >= keptAt) await keepNow()
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
