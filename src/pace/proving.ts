import type { Heard, Permit, Permits } from './pace.ts'

type Options = {
  readonly permits: Permits
  readonly heard: Heard
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}

/** Calls at once while it is not known whether the service takes our credentials. */
const FEW = 3
/** A call that nobody hears of any more, because its claim broke off, holds up nobody for longer. */
const FORGOTTEN_MS = 60_000
const LOOK_MS = 20

/**
 * Until the service has taken the credentials of this process once, and again after it has refused them, only a few
 * calls are made at once: with wrong keys all that were under way would be refused before anybody could know.
 */
export function makeProving({ permits, heard, sleep, now }: Options): {
  readonly permits: Permits
  readonly heard: Heard
} {
  let proven = false
  /** When each permit was given that no call was heard of yet. */
  let out: number[] = []

  function mayGo(): boolean {
    if (proven) return true
    out = out.filter((since) => now() - since < FORGOTTEN_MS)
    return out.length < FEW
  }

  return {
    permits: {
      ...permits,
      async take(signal): Promise<Permit | null> {
        while (!mayGo()) {
          signal.throwIfAborted()
          await sleep(LOOK_MS, signal)
        }
        out.push(now())
        const permit = await permits.take(signal).catch((error: unknown) => {
          out.pop()
          throw error
        })
        if (!permit) out.pop()
        return permit
      },
      giveBack(permit) {
        out.shift()
        permits.giveBack(permit)
      },
    },
    async heard(call) {
      out.shift()
      if (call.sign === 'well') proven = true
      if (call.sign === 'denied') proven = false
      await heard(call)
    },
  }
}
