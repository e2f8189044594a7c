/** Leave to have one call under way in this process; given back when it is over. */
export type CallSlots = {
  /** In the order of asking; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void>
  giveBack(): void
}

/** So many calls at once, whatever else of the claims that make them is going on. */
export function makeCallSlots(most: number): CallSlots {
  let free = most
  const waiting = new Set<() => void>()
  return {
    async take(signal) {
      signal.throwIfAborted()
      if (free > 0) {
        free--
        return
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const leave = () => {
        waiting.delete(resolve)
        reject(signal.reason)
      }
      waiting.add(resolve)
      signal.addEventListener('abort', leave, { once: true })
      await promise.finally(() => signal.removeEventListener('abort', leave))
    },
    giveBack() {
      const [next] = waiting
      if (!next) {
        free++
        return
      }
      waiting.delete(next)
      next()
    },
  }
}
