// When checks may be made, and how fast: whatever is owed goes first, and all calls share one pace.
import type { Pool } from 'pg'
import { oneRow } from '../database/client.ts'
import { type Binding, isCurrent } from '../ledger/target.ts'
import { LANE } from '../model/customer.ts'
import type { Pace } from '../pace/open.ts'
import type { Doubt, Stopped, Verified } from './words.ts'

export type Preconditions = {
  /** Calls per second that may be made now; 0 while calls are held off or stopped. */
  readonly rate: number
  /** A change, a removal or a repair has waited for longer than dispatch takes. */
  readonly liveWaits: boolean
  /** Syncs go by our mapping, and to our target. */
  readonly current: boolean
  /** All customers who differ under the present mapping are noted. */
  readonly swept: boolean
  /** Changes may be missing: a resync of all customers is to come. */
  readonly gap: boolean
}

/** A customer that is due is taken within a fraction of this, unless dispatch is behind. */
const BEHIND = `clock_timestamp() - interval '1 second'`

const PRECONDITIONS = `
SELECT EXISTS (SELECT FROM rollcall.owed WHERE lane = ANY($1) AND due_at < ${BEHIND})
    OR coalesce((SELECT at FROM rollcall.outbox ORDER BY id LIMIT 1) < ${BEHIND}, false) AS "liveWaits",
  coalesce(${isCurrent({ binding: '$3', fingerprint: '$2' })}, false) AS current,
  coalesce((SELECT swept_at IS NOT NULL FROM rollcall.generation ORDER BY id DESC LIMIT 1), false) AS swept,
  EXISTS (SELECT FROM rollcall.capture_mark
    WHERE resynced_at IS NULL AND (kind = 'overflow' OR resolved_at IS NOT NULL)) AS gap`

const LIVE = [LANE.deletion, LANE.change, LANE.repair]

type Asked = {
  readonly fingerprint: string
  readonly binding: Binding
  readonly pace: Pick<Pace, 'rate'>
}

export async function readPreconditions(pool: Pool, { fingerprint, binding, pace }: Asked) {
  const values = [LIVE, fingerprint, binding]
  const read = await oneRow<Omit<Preconditions, 'rate'>>(pool, PRECONDITIONS, values)
  return { ...read, rate: await pace.rate() }
}

/** Before these have passed a difference is about to be owed, and is no drift. */
export function unsettled({ current, swept, gap }: Preconditions): 'mapping' | 'unswept' | 'gap' | null {
  if (!current) return 'mapping'
  if (!swept) return 'unswept'
  return gap ? 'gap' : null
}

/** Calls are gathered for no longer than this, so that they come evenly and not in bursts. */
const GATHERED_S = 0.5

/** Calls that may be made now; a part of one is kept for later. `at`: monotonic milliseconds. */
type Allowance = { readonly left: number; readonly at: number }

export function refill({ left, at }: Allowance, speed: number, now: number): Allowance {
  const gathered = (speed * Math.max(0, now - at)) / 1000
  return { left: Math.min(Math.max(1, speed * GATHERED_S), left + gathered), at: now }
}

/** Owed syncs go first in any case; workers leave most of the pace to them, and a run that a person waits for half. */
export const SHARE = { tick: 0.25, run: 0.5 }

/** `refused`: a difference could be what is about to be sent. `stopped`: the same command goes on with it. */
export type RunEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'stopped'; readonly why: Stopped }
  | { readonly kind: 'not-credible'; readonly why: Doubt }
  | { readonly kind: 'refused'; readonly why: 'mapping' | 'unswept' | 'gap' }

type Gating = {
  readonly preconditions: () => Promise<Preconditions>
  /** Calls per second at most; null: a part of the common pace. */
  readonly rate: number | null
  /** Called while calls are stopped: there may be no worker that finds out when they may be made again. */
  readonly tend: () => Promise<unknown>
  readonly onBeat: (stopped: boolean) => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly monotonic: () => number
  readonly signal: AbortSignal
}

export type RunGate = ReturnType<typeof makeRunGate>

export const BEAT_MS = 200
/** For so long calls may be stopped before the run is. */
const PATIENCE_MS = 60_000
/** Owed syncs go first; but where no worker carries them out, a run would wait for ever. */
const YIELD_MS = 2000
/** More in one go would be read long before they are checked, and held long by one transaction. */
export const MOST_AT_ONCE = 50

export function makeRunGate({ preconditions, rate: limit, tend, onBeat, sleep, monotonic, signal }: Gating) {
  let allowance: Allowance = { left: 1, at: monotonic() }

  return {
    /** How many may be checked now; or how the run ends here. `doubt`: asked while calls are stopped. */
    async room(doubt: () => Doubt | null): Promise<number | RunEnd> {
      let since: number | null = null
      let yielded = 0
      for (;;) {
        if (signal.aborted) return { kind: 'stopped', why: 'asked' }
        const now = await preconditions()
        const why = unsettled(now)
        if (why) return { kind: 'refused', why }
        onBeat(now.rate <= 0)
        if (now.rate <= 0) {
          const doubted = doubt()
          if (doubted) return { kind: 'not-credible', why: doubted }
          since ??= monotonic()
          if (monotonic() - since >= PATIENCE_MS) return { kind: 'stopped', why: 'pace' }
          await tend()
        } else if (now.liveWaits && yielded < YIELD_MS) {
          yielded += BEAT_MS
        } else {
          const speed = limit === null ? now.rate * SHARE.run : Math.min(now.rate, limit)
          allowance = refill(allowance, speed, monotonic())
          const enough = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor((speed * BEAT_MS) / 1000)))
          if (allowance.left >= enough) return Math.min(MOST_AT_ONCE, Math.floor(allowance.left))
        }
        await sleep(BEAT_MS, signal)
      }
    },
    /** A customer that was passed over without a call costs nothing. */
    spent(verified: readonly Verified[]): void {
      const calls = verified.filter(({ verdict }) => verdict.kind !== 'skipped' || verdict.why === 'moved')
      allowance = { ...allowance, left: allowance.left - calls.length }
    },
  }
}
