import { sleep } from './time.ts'

export type Health = ReturnType<ReturnType<typeof makeLoopHealth>['health']>
export type Readiness = Awaited<ReturnType<ReturnType<typeof makeReadiness>['readiness']>>

/** A step of a loop; resolves to whether there was anything to do. */
export type LoopStep = () => Promise<boolean>

type LoopOptions<L extends string> = {
  /** How long a step of a loop may take, in milliseconds; the others: as long as they like. */
  readonly limits: Readonly<Partial<Record<L, number>>>
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/**
 * Whether the loops still complete steps. A step that fails counts as well: it is tried again, and ending the
 * process would not bring back what it lacks. Only one that hangs is a case for a new process.
 */
export function makeLoopHealth<L extends string>({ limits, now }: LoopOptions<L>) {
  const completedAt = new Map<L, number>()

  return {
    watch(loop: L, step: LoopStep, onFailure: () => void): LoopStep {
      completedAt.set(loop, now())
      return async () => {
        try {
          return await step()
        } catch (error) {
          onFailure()
          throw error
        } finally {
          completedAt.set(loop, now())
        }
      }
    },
    /** For how long each loop has been silent, in milliseconds. */
    silent: () => [...completedAt].map(([loop, at]) => [loop, now() - at] as const),
    health() {
      const stuck = this.silent()
        .filter(([loop, ms]) => ms > (limits[loop] ?? Number.POSITIVE_INFINITY))
        .map(([loop, ms]) => ({ loop, silentSeconds: Math.round(ms / 1000) }))
      return { ok: stuck.length === 0, stuck }
    },
  }
}

type ReadinessOptions<P extends string> = {
  /** The parts that have to be there, and the sentence for a missing one. */
  readonly parts: Readonly<Record<P, string>>
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onTrouble: (part: P, error: unknown) => void
}

/** An answer of a part is good for this long, and waited for no longer than that. */
const LIMITS = { keepMs: 2000, deadlineMs: 1500 }

/** Whether everything is there that a worker needs to sync. */
export function makeReadiness<P extends string>({ parts, now, onTrouble }: ReadinessOptions<P>) {
  const watched = new Map<P, () => Promise<boolean | null>>()

  return {
    /** `check` resolves to whether it is there; one that fails or is late says no. */
    watch(part: P, check: () => Promise<boolean>): void {
      const onFailure = (error: unknown) => onTrouble(part, error)
      watched.set(part, makeLately({ ask: check, ...LIMITS, now, onTrouble: onFailure }))
    },
    async readiness() {
      const asked = (Object.keys(parts) as P[]).map(async (part) => {
        const check = watched.get(part)
        const what = check ? parts[part] : 'the worker is still starting: see its log'
        return (await check?.()) ? [] : [{ part, what }]
      })
      const missing = (await Promise.all(asked)).flat()
      return { ready: missing.length === 0, missing }
    },
  }
}

type LatelyOptions<T> = {
  readonly ask: () => Promise<T>
  /** An answer, or that there was none, is good for so long. */
  readonly keepMs: number
  /** No caller waits longer than this. */
  readonly deadlineMs: number
  /** An answer is also good for so many times as long as it took. Default 0. */
  readonly restTimes?: number
  /** While a new answer is late, the old one does for so long after it was good. Default 0. */
  readonly staleMs?: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onTrouble: (error: unknown) => void
}

/**
 * The last answer; null: there is none. A probe or a scrape must neither load the asked part nor hang with it: one
 * question at a time, answers are kept, and no caller waits beyond the deadline.
 */
export function makeLately<T>(options: LatelyOptions<T>): () => Promise<T | null> {
  const { ask, keepMs, deadlineMs, restTimes = 0, staleMs = 0, now, onTrouble } = options
  let good: { readonly value: T; readonly until: number } | null = null
  let failedUntil = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    const started = now()
    try {
      const value = await ask()
      good = { value, until: now() + Math.max(keepMs, restTimes * (now() - started)) }
    } catch (error) {
      good = null
      failedUntil = now() + keepMs
      onTrouble(error)
    } finally {
      running = null
    }
  }

  return async () => {
    if (good && now() < good.until) return good.value
    if (now() < failedUntil) return null
    const waited = new AbortController()
    running ??= run()
    await Promise.race([running, sleep(deadlineMs, waited.signal)])
    waited.abort()
    return good && now() < good.until + staleMs ? good.value : null
  }
}
