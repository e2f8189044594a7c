// One sweep at a time, and one backfill: whoever comes second waits, unless it wants something else.
import type { Pool } from 'pg'
import { alone } from '../ledger/alone.ts'
import { readStanding } from '../ledger/generation.ts'
import { readDone, readOtherBackfill } from '../ledger/runs-read.ts'
import { RollcallError } from '../model/errors.ts'
import { sleep } from '../ops/time.ts'
import type { Restriction } from '../sweep/restriction.ts'
import type { SweepEnd } from '../sweep/run.ts'
import { NOTHING_FOUND, type SweepTally } from '../sweep/tally.ts'
import { OTHERS_SWEEP } from './say-sweeps.ts'

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

const POLL_MS = 300
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
