// One run over customers that a person or a job asked for: looks, second looks, and an end that can be believed.
import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { afterLooks, answered, closed, dueOf, nextAt, soFar } from './agenda.ts'
import { readDoubt } from './coverage.ts'
import { FIRST, type Next, type Place } from './everybody.ts'
import { BEAT_MS, type RunEnd, type RunGate } from './gate.ts'
import { metSince } from './meanwhile.ts'
import { type DriftRun, keepDrift } from './runs.ts'
import type { AskSample } from './sample.ts'
import { silentOf } from './tally.ts'
import type { Verify } from './verify.ts'
import type { Doubt, DriftTally, Verified } from './words.ts'

type DriveOptions = {
  readonly pool: Pool
  /** Of the mapping that it goes by. */
  readonly fingerprint: string
  readonly run: DriftRun
  readonly gate: RunGate
  readonly everybody: (from: Place) => AsyncGenerator<Next>
  readonly verify: Verify
  readonly sample: AskSample
  /** What the answers so far say of the service; see tally.ts. */
  readonly doubtOf: (tally: DriftTally) => Doubt | null
  readonly onLooks: (verified: readonly Verified[], run: DriftRun) => void
  /** From now on another process may go on with it. */
  readonly onKept: () => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds; those of the run's agenda are by the same clock. */
  readonly now: () => number
  readonly signal: AbortSignal
}

const KEEP_MS = 1000
/** From so many on who were asked about, silence is the service's and not bad luck. */
const ENOUGH_SILENCE = 10

/**
 * Drives a run until nobody is left to look at, or for as long as it makes sense. What it has found is in the run that it
 * resolves to; it is kept by then, and stays open: `endRun` ends it.
 */
export async function driveRun(
  options: DriveOptions,
): Promise<{ readonly run: DriftRun; readonly end: RunEnd }> {
  const { pool, gate, verify, now, signal, onLooks, doubtOf } = options
  let { run } = options
  const source = options.everybody(run.place)
  let peeked: Next | null = null
  let exhausted = false
  /** All who are drawn at random were looked at. */
  let allDrawn = false
  let keptAt = now()

  const end = await unlessStopped(go)
  await keepNow()
  await source.return(undefined)
  const told = await concluded(end)
  const agenda = told.kind === 'not-credible' ? answered(run.agenda) : closed(run.agenda)
  return { run: { ...run, agenda }, end: told }

  async function go(): Promise<RunEnd> {
    for (;;) {
      const doubt = judged(run, allDrawn, doubtOf)
      if (doubt) return { kind: 'not-credible', why: doubt }
      const gated = await gate.room(() => doubtOf(soFar(run.agenda)))
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
   * of most since a moment ago is not one with which all others agree.
   */
  async function concluded(ended: RunEnd): Promise<RunEnd> {
    if (ended.kind !== 'complete' && ended.kind !== 'stopped') return ended
    const doubt = doubtOf(soFar(run.agenda))
    if (doubt) return { kind: 'not-credible', why: doubt }
    const { vanished, kinds } = soFar(run.agenda)
    const { unreadable = 0 } = kinds
    if (vanished + unreadable === 0) return ended
    if (!signal.aborted) await options.sample(signal)
    if (!(await readDoubt(pool))) return ended
    return { kind: 'not-credible', why: unreadable > vanished ? 'no-answers' : 'nobody-there' }
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

  /** The first ones, who are drawn at random, are judged before anybody else is asked about. */
  async function take(count: number): Promise<readonly CustomerKey[]> {
    const keys: CustomerKey[] = []
    while (keys.length < count && !exhausted) {
      const next: Next | null = peeked ?? (await pulled())
      peeked = next
      if (!next) break
      const leaves = run.place.position.part === 'drawn' && next.place.position.part !== 'drawn'
      allDrawn ||= leaves
      if (leaves && (keys.length > 0 || doubtOf(soFar(run.agenda)) !== null)) break
      peeked = null
      keys.push(next.key)
      run = { ...run, place: next.place }
    }
    return keys
  }

  async function pulled(): Promise<Next | null> {
    const { value, done } = await source.next()
    exhausted = done === true
    allDrawn ||= exhausted
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

/**
 * Whether the service is to be doubted, told by those who were drawn at random: silence at once, since asking on helps
 * nobody; that it knows nobody once second looks have shown it too.
 */
function judged(
  { place, agenda }: DriftRun,
  allDrawn: boolean,
  doubtOf: DriveOptions['doubtOf'],
): Doubt | null {
  if (place.position.part !== 'drawn') return null
  const tally = soFar(agenda)
  const asked = tally.checked + silentOf(tally)
  const doubt = doubtOf(tally)
  // Nothing is confirmed while most are told not to be there, so that a third look would say no more.
  const cleared = agenda.waiting.every(({ looks }) => looks >= 2)
  if (doubt !== 'nobody-there') return asked >= ENOUGH_SILENCE || (allDrawn && cleared) ? doubt : null
  return cleared && (allDrawn || asked >= FIRST) ? doubt : null
}

function untilNext(at: number | null, nowMs: number): number {
  return at === null ? BEAT_MS : Math.min(BEAT_MS, Math.max(1, at - nowMs))
}
