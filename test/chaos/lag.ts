// How late this process is with what it does: so late its reading of the time of an arrival may be.
const EVERY_MS = 20
/** The clocks of others, the way of a request, and what falls between two ticks. */
const ALWAYS_MS = 150
const AROUND_MS = 3000

export type Lagging = Disposable & {
  /** Milliseconds, for something that happened at that time. */
  readonly around: (at: number) => number
}

export function startLagging(): Lagging {
  const late: { readonly at: number; readonly ms: number }[] = []
  let expected = Date.now() + EVERY_MS
  const timer = setInterval(() => {
    const now = Date.now()
    if (now - expected > EVERY_MS) late.push({ at: now, ms: now - expected })
    expected = now + EVERY_MS
  }, EVERY_MS)
  return {
    around: (at) =>
      ALWAYS_MS +
      late.reduce((most, each) => (Math.abs(each.at - at) < AROUND_MS ? Math.max(most, each.ms) : most), 0),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
