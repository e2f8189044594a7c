/** The sandbox's own time: the machine's, or moved on, so that a trial or a working day can be seen to end. */
export type Clock = {
  /** Epoch milliseconds. */
  now(): number
  /** Goes on from there; throws a RangeError outside of `inClockRange`. */
  set(epochMs: number): void
  advance(ms: number): void
  /** Back to the machine's time. */
  clear(): void
}

export function makeClock(machine: () => number = Date.now): Clock {
  let offset = 0
  const set = (epochMs: number) => {
    if (!inClockRange(epochMs)) throw new RangeError('The clock takes 1970 to 9989.')
    offset = epochMs - machine()
  }
  return {
    now: () => machine() + offset,
    set,
    advance: (ms) => set(machine() + offset + ms),
    clear() {
      offset = 0
    },
  }
}

const END = Date.UTC(9990, 0, 1)

/** Every time that is shown has a year of four digits (2.1, 2.2), a token's end or a next connection included. */
export function inClockRange(epochMs: number): boolean {
  return epochMs >= 0 && epochMs < END
}

/** `YYYY-MM-DDThh:mm:ss`, UTC without a zone suffix (section 2.1). */
export function secondText(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 19)
}

/** `YYYY-MM-DDThh:mm`, UTC (section 2.2). */
export function minuteText(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 16)
}
