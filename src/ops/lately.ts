import { sleep } from './time.ts'

type Options<T> = {
  readonly ask: () => Promise<T>
  /** An answer, or that there was none, is good for so long. */
  readonly keepMs: number
  /** Nobody who wants to know waits longer than this. */
  readonly deadlineMs: number
  /** What is slow is asked rarely: an answer is also good for so many times as long as it took. Default 0. */
  readonly restTimes?: number
  /** While a new answer is late, the old one does for so long after it was good. Default 0. */
  readonly staleMs?: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly onTrouble: (error: unknown) => void
}

/**
 * What somebody said lately; null: they did not. Whoever asks from outside (a probe, a scrape) must neither load those
 * who are asked nor hang with them: one question at a time, answers are kept, and none is waited for beyond a deadline.
 */
export function makeLately<T>(options: Options<T>): () => Promise<T | null> {
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
