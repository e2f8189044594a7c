/** The sandbox's own time: the machine's, or moved on, so that a trial or a working day ends on demand. */
export type SandboxClock = ReturnType<typeof makeClock>

/** All times in epoch milliseconds. */
export function makeClock(machine: () => number = Date.now) {
  let offset = 0
  /** Time goes on from there; the control endpoint checks `inClockRange`. */
  const set = (epochMs: number): void => {
    offset = epochMs - machine()
  }
  return {
    now: () => machine() + offset,
    set,
    advance: (ms: number) => set(machine() + offset + ms),
    clear() {
      offset = 0
    },
  }
}

/** Every time that is shown has a year of four digits (2.1, 2.2), the end of a token and a next connection too. */
export function inClockRange(epochMs: number): boolean {
  return epochMs >= 0 && epochMs < Date.UTC(9990, 0, 1)
}

/** `YYYY-MM-DDThh:mm:ss`, UTC without a zone suffix (section 2.1). */
export function secondText(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 19)
}
