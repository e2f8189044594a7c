/** The sandbox's own time: the machine's, or moved on, so that a trial or a working day can be seen to end. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number
  /** Goes on from there. */
  set(epochMs: number): void
  advance(ms: number): void
  /** Back to the machine's time. */
  clear(): void
}

export function makeClock(machine: () => number = Date.now): Clock {
  let offset = 0
  return {
    now: () => machine() + offset,
    set(epochMs) {
      offset = epochMs - machine()
    },
    advance(ms) {
      offset += ms
    },
    clear() {
      offset = 0
    },
  }
}
