import { makeLately } from './lately.ts'

/** Shown by /healthz. */
export type Health = {
  readonly ok: boolean
  readonly stuck: readonly { readonly loop: string; readonly silentSeconds: number }[]
}

/** Shown by /readyz. */
export type Readiness = {
  readonly ready: boolean
  readonly missing: readonly { readonly part: string; readonly what: string }[]
}

/** A step of a loop; resolves to whether there was anything to do. */
export type LoopStep = () => Promise<boolean>

type LoopOptions<L extends string> = {
  /** How long each loop may take to come round, in milliseconds; null: as long as it likes. */
  readonly limits: Readonly<Record<L, number | null>>
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Whether the loops still come round. A step that fails has come round as well: it is tried again, and ending the
 * process would not bring back what it lacks. Only one that hangs is a case for a new process.
 */
export function makeLoopHealth<L extends string>({ limits, now }: LoopOptions<L>) {
  const cameRound = new Map<L, number>()

  return {
    /** The step, watched from now on. */
    watch(loop: L, step: LoopStep, onFailure: () => void): LoopStep {
      cameRound.set(loop, now())
      return async () => {
        try {
          return await step()
        } catch (error) {
          onFailure()
          throw error
        } finally {
          cameRound.set(loop, now())
        }
      }
    },
    /** For how long each loop has been silent, in milliseconds. */
    silent: (): readonly (readonly [L, number])[] =>
      [...cameRound].map(([loop, at]) => [loop, now() - at] as const),
    health(): Health {
      const stuck = this.silent()
        .filter(([loop, ms]) => ms > (limits[loop] ?? Number.POSITIVE_INFINITY))
        .map(([loop, ms]) => ({ loop, silentSeconds: Math.round(ms / 1000) }))
      return { ok: stuck.length === 0, stuck }
    },
  }
}

type ReadinessOptions<P extends string> = {
  /** What has to be there, and the sentence for when it is not. */
  readonly parts: Readonly<Record<P, string>>
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onTrouble: (part: P, error: unknown) => void
}

/** An answer of a part is good for this long, and waited for no longer than that. */
const KEEP_MS = 2000
const DEADLINE_MS = 1500
const NOT_STARTED = 'the worker has not come so far yet'

/** Whether everything is there that a worker needs to sync. What was never watched has not started yet. */
export function makeReadiness<P extends string>({ parts, now, onTrouble }: ReadinessOptions<P>) {
  const watched = new Map<P, () => Promise<boolean | null>>()
  const names = Object.keys(parts) as P[]

  async function missing(part: P): Promise<Readiness['missing']> {
    const answered = watched.get(part)
    if (!answered) return [{ part, what: NOT_STARTED }]
    return (await answered()) ? [] : [{ part, what: parts[part] }]
  }

  return {
    /** `check` resolves to whether it is there; one that fails or is late says no. */
    watch(part: P, check: () => Promise<boolean>): void {
      const onFailure = (error: unknown) => onTrouble(part, error)
      const limits = { keepMs: KEEP_MS, deadlineMs: DEADLINE_MS }
      watched.set(part, makeLately({ ask: check, ...limits, now, onTrouble: onFailure }))
    },
    async readiness(): Promise<Readiness> {
      const all = (await Promise.all(names.map(missing))).flat()
      return { ready: all.length === 0, missing: all }
    },
  }
}
