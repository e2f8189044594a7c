import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after the time, or at once when the sandbox stops. */
export async function wait(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error
  })
}
