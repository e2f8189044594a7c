// Holds a run back for what is owed and for the pace, and ends it where waiting is no use.
import { MOST_AT_ONCE, makeAllowance, type Preconditions, SHARE, type Unsettled } from './preconditions.ts'
import type { Checked, NotCredible, Stopped } from './words.ts'

/** `refused`: a difference could be what is about to be sent. `stopped`: the same command goes on with it. */
export type RunEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'stopped'; readonly why: Stopped }
  | { readonly kind: 'not-credible'; readonly why: NotCredible }
  | { readonly kind: 'refused'; readonly why: Unsettled }

type Gating = {
  readonly preconditions: () => Promise<Preconditions>
  /** Calls per second at most; null: a part of the common pace. */
  readonly rate: number | null
  /** Called while calls are stopped: there may be no worker that finds out when they may be made again. */
  readonly probe: () => Promise<unknown>
  readonly onBeat: (stopped: boolean) => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly monotonic: () => number
  readonly signal: AbortSignal
}

export type RunGate = ReturnType<typeof makeRunGate>

export const GATE_MS = 200
/** For so long calls may be stopped before the run is. */
const PATIENCE_MS = 60_000
/** Owed syncs go first; but where no worker carries them out, a run would wait for ever. */
const YIELD_MS = 2000

export function makeRunGate({ preconditions, rate: limit, probe, onBeat, sleep, monotonic, signal }: Gating) {
  const allowance = makeAllowance(monotonic)

  return {
    /** How many may be checked now; or how the run ends here. `notCredible`: asked while calls are stopped. */
    async room(notCredible: () => NotCredible | null): Promise<number | RunEnd> {
      let since: number | null = null
      let yielded = 0
      for (;;) {
        if (signal.aborted) return { kind: 'stopped', why: 'asked' }
        const now = await preconditions()
        if (now.unsettled) return { kind: 'refused', why: now.unsettled }
        onBeat(now.rate <= 0)
        if (now.rate <= 0) {
          const reason = notCredible()
          if (reason) return { kind: 'not-credible', why: reason }
          since ??= monotonic()
          if (monotonic() - since >= PATIENCE_MS) return { kind: 'stopped', why: 'pace' }
          await probe()
        } else if (now.liveWaits && yielded < YIELD_MS) {
          yielded += GATE_MS
        } else {
          const speed = limit === null ? now.rate * SHARE.run : Math.min(now.rate, limit)
          const room = allowance.refill(speed)
          const enough = Math.min(MOST_AT_ONCE, Math.floor((speed * GATE_MS) / 1000))
          if (room >= Math.max(1, enough)) return room
        }
        await sleep(GATE_MS, signal)
      }
    },
    spend: allowance.spend,
    /** A customer that was passed over without a call costs nothing. */
    giveBack(checked: readonly Checked[]): void {
      const passed = checked.filter(({ verdict }) => verdict.kind === 'skipped' && verdict.why !== 'changed')
      allowance.spend(-passed.length)
    },
  }
}
