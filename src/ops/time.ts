import { setTimeout } from 'node:timers/promises'

/** Resolves after the time or, without an error, as soon as the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(Math.max(0, ms), undefined, signal ? { signal } : {}).catch((error: unknown) => {
    if (!signal?.aborted) throw error
  })
}

/** Both clocks of a process, in milliseconds; see `SyncLeaseOptions` of sync/run.ts. */
export const systemClock = { wall: () => Date.now(), monotonic: () => performance.now() }
