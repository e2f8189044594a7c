import type { Pool } from 'pg'
import { alone } from '../ledger/alone.ts'
import { readStanding } from '../ledger/generation.ts'
import { readOpen } from '../ledger/lane-open.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { readDone, readOtherBackfill } from '../ledger/runs-read.ts'
import { LANE } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { sleep } from '../ops/time.ts'
import type { Restriction } from '../sweep/restriction.ts'
import type { SweepEnd } from '../sweep/run.ts'
import { NOTHING_FOUND, type SweepTally } from '../sweep/tally.ts'
import type { Io } from './io.ts'
import type { Progress } from './progress.ts'
import { OTHERS_SWEEP } from './say-sweeps.ts'

export type Waited = {
  /** False: the command was stopped before. */
  readonly ended: boolean
  /** Owed still, by what was to be brought in. */
  readonly open: number
  /** Of everybody: how many are in which state, and why those are not settled who are not. */
  readonly states: Overview['states']
  readonly reasons: Overview['reasons']
}

type Waiting = { readonly io: Pick<Io, 'stop'>; readonly pool: Pool; readonly progress: Progress }

const POLL_MS = 500
/** Nobody was settled for so long: whoever waits is told what it may be. */
const QUIET_MS = 60_000

/**
 * Until nobody is owed a sync in the lane of a backfill, but for those who fail again and again. Who was rejected or is
 * held is owed none: they are told of at the end, since waiting changes nothing for them.
 */
export async function awaitSettled({ io, pool, progress }: Waiting): Promise<Waited> {
  let first: number | null = null
  let last = { open: -1, at: performance.now() }
  let told = false
  for (;;) {
    const { open, failAgain } = await readOpen(pool, LANE.backfill)
    first ??= open
    if (open === 0 || io.stop.aborted) {
      const { states, reasons } = await readOverview(pool)
      return { ended: open === 0, open: open + failAgain, states, reasons }
    }
    if (open !== last.open) last = { open, at: performance.now() }
    else if (!told && performance.now() - last.at > QUIET_MS) {
      told = true
      progress.say(
        'nobody was settled for a minute: does a worker run? `rollcall status` and `rollcall pace` tell',
      )
    }
    const total = Math.max(first, open)
    const note = failAgain > 0 ? `${failAgain} fail again and again` : ''
    progress.show({ verb: 'settled', done: total - open, total, from: 0, note })
    await sleep(POLL_MS, io.stop)
  }
}

/** `goOnAfterMs`: it has stopped on the way, so that a sweep that is more urgent may be made in between. */
export type Slice = SweepEnd & { readonly goOnAfterMs: number | null }

type Turn = {
  readonly pool: Pool
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  readonly restart: boolean
  /** It announces registrations, which the other one has not. */
  readonly announces: boolean
}

type What =
  | { readonly kind: 'backfill'; readonly restriction: Restriction }
  | { readonly kind: 'mapping'; readonly fingerprint: string }

const STOPPED: SweepEnd = { tally: NOTHING_FOUND, ended: false, superseded: false, examples: [] }

/** @throws RollcallError SWEEP_RUNNING where another backfill is under way that is not the same */
export async function runInTurn(turn: Turn, what: What, run: () => Promise<Slice>): Promise<SweepEnd> {
  const { pool, signal, say } = turn
  let other: Other | null = null
  while (!signal.aborted) {
    const waited = other
    const ran = await alone(pool, 'backfill', async () => {
      const done = waited ? await doneBy(pool, waited, what) : null
      return done ?? (await whenNobodySweeps(turn, run))
    })
    if (ran) return ran
    // Known before it is told: by then the other one may have ended.
    const found = await readOther(turn, what)
    if (!other) say('another backfill is under way: this one waits until it has ended')
    other = found ?? other ?? { id: null }
    await sleep(POLL_MS, signal)
  }
  return STOPPED
}

/** Its record; null as long as it has none. */
type Other = { readonly id: string | null }

/** A worker's check, or a look after a gap in capture, takes as long as this one will. */
async function whenNobodySweeps({ pool, signal, say }: Turn, run: () => Promise<Slice>): Promise<SweepEnd> {
  let told = false
  let last: SweepEnd = STOPPED
  while (!signal.aborted) {
    const ran = await alone(pool, 'sweep', run)
    if (ran && (ran.goOnAfterMs === null || signal.aborted)) return ran
    last = ran ?? last
    if (!ran && !told) say(OTHERS_SWEEP)
    told ||= !ran
    await sleep(ran?.goOnAfterMs ?? POLL_MS, signal)
  }
  return last
}

async function readOther({ pool, restart, announces }: Turn, what: What): Promise<Other | null> {
  if (what.kind === 'mapping') return null
  const found = await readOtherBackfill(pool, what.restriction.options)
  if (found && (restart || announces || !found.same)) throw new RollcallError('SWEEP_RUNNING')
  return found
}

/** The other one has done what this one was called for. */
async function doneBy(pool: Pool, { id }: Other, what: What): Promise<SweepEnd | null> {
  if (what.kind === 'mapping') {
    const standing = await readStanding(pool, what.fingerprint)
    return standing?.current && standing.swept ? { ...STOPPED, ended: true } : null
  }
  const tally = id === null ? null : await readDone<SweepTally>(pool, id)
  return tally && { tally: { ...NOTHING_FOUND, ...tally }, ended: true, superseded: false, examples: [] }
}
