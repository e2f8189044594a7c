import type { Digester } from '../sync/digest.ts'
import type { Policy } from '../sync/policy.ts'
import { callsAhead } from './ahead.ts'
import type { Judged } from './judge.ts'

type Throttle = {
  /** Calls per second. */
  readonly rate: number
  readonly policy: Policy
  readonly digester: Digester
  readonly now: () => number
  /** Resolves after the time, or as soon as nobody wants to wait any more. */
  readonly sleep: (ms: number) => Promise<void>
}

/** Customers in a page: a page's calls take a second at the most, so that none comes as a burst. */
export function pageFor(rate: number): number {
  return Math.max(1, Math.min(1000, Math.floor(rate)))
}

/**
 * After a page was noted: waits for as long as its calls take at that rate, so that no more is owed than that; but not
 * longer than `mostMs`: it resolves to what is left of the wait.
 */
export function makeThrottle({ rate, policy, digester, now, sleep }: Throttle) {
  let free = now()
  return async (judged: readonly Judged[], mostMs: number): Promise<number> => {
    const calls = judged
      .flatMap(({ key, verdict, made }) =>
        made && verdict === 'differs' ? [callsAhead(made, { key, policy, digester }).calls.length] : [],
      )
      .reduce((sum, each) => sum + each, 0)
    free = Math.max(free, now()) + (calls / rate) * 1000
    await sleep(Math.min(free - now(), mostMs))
    return Math.max(0, free - now())
  }
}
