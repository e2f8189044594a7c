// Holds a run back for what goes before it, and says when it cannot go on.
import { type Allowance, type Circumstances, refill, speedOf } from './allowance.ts'
import { MOST_AT_ONCE } from './verify.ts'
import type { Doubt, Stopped, Verified } from './words.ts'

/**
 * `refused`: what is compared is not settled, so that whatever is found could be what is about to be sent. `stopped`:
 * the same call goes on with it.
 */
export type RunEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'stopped'; readonly why: Stopped }
  | { readonly kind: 'not-credible'; readonly why: Doubt }
  | { readonly kind: 'refused'; readonly why: 'mapping' | 'unswept' | 'gap' }

type Gating = {
  readonly circumstances: () => Promise<Circumstances>
  /** Calls per second at most; null: a part of the common pace. */
  readonly rate: number | null
  /** Called while calls are stopped for everybody: there may be no worker that finds out when they may be made again. */
  readonly tend: () => Promise<unknown>
  /** Told at each beat whether calls are stopped, for whoever waits and sees nothing go on. */
  readonly onBeat?: (stopped: boolean) => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Milliseconds. */
  readonly monotonic: () => number
  readonly signal: AbortSignal
  /** For so long calls may be stopped before the run is. */
  readonly patienceMs?: number
}

export type RunGate = ReturnType<typeof makeRunGate>

export const BEAT_MS = 200
const PATIENCE_MS = 60_000
/** What is owed goes first; but where nobody carries it out, a run would wait for ever. */
const YIELD_MS = 2000

/** Holds a run back for what goes before it: whoever is owed something, the pace, and what was asked for. */
export function makeRunGate(options: Gating) {
  const { circumstances, rate: asked, tend, sleep, monotonic, signal, patienceMs = PATIENCE_MS } = options
  const { onBeat } = options
  let allowance: Allowance = { left: 1, at: monotonic() }

  return {
    /** How many may be looked at now; or how the run ends here. `doubt`: asked while calls are stopped. */
    async room(doubt: () => Doubt | null): Promise<number | RunEnd> {
      let since: number | null = null
      let yielded = 0
      for (;;) {
        if (signal.aborted) return { kind: 'stopped', why: 'asked' }
        const { current, swept, gap, rate, liveWaits } = await circumstances()
        if (!current) return { kind: 'refused', why: 'mapping' }
        if (!swept) return { kind: 'refused', why: 'unswept' }
        if (gap) return { kind: 'refused', why: 'gap' }
        onBeat?.(rate <= 0)
        if (rate <= 0) {
          const why = doubt()
          if (why) return { kind: 'not-credible', why }
          since ??= monotonic()
          if (monotonic() - since >= patienceMs) return { kind: 'stopped', why: 'pace' }
          await tend()
        } else if (liveWaits && yielded < YIELD_MS) {
          yielded += BEAT_MS
        } else {
          const speed = speedOf(rate, asked)
          allowance = refill(allowance, speed, monotonic())
          const enough = Math.max(1, Math.min(MOST_AT_ONCE, Math.floor((speed * BEAT_MS) / 1000)))
          if (allowance.left >= enough) return Math.min(MOST_AT_ONCE, Math.floor(allowance.left))
        }
        await sleep(BEAT_MS, signal)
      }
    },
    /** Who was passed over without a call costs nothing. */
    spent(verified: readonly Verified[]): void {
      const calls = verified.filter(({ verdict }) => verdict.kind !== 'skipped' || verdict.why === 'moved')
      allowance = { ...allowance, left: allowance.left - calls.length }
    },
  }
}
