import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../sync/job.ts'

/** Resolves after the time or, without an error, as soon as the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(Math.max(0, ms), undefined, signal ? { signal } : {}).catch((error: unknown) => {
    if (!signal?.aborted) throw error
  })
}

export const systemClock: Clock = { wall: () => Date.now(), monotonic: () => performance.now() }
