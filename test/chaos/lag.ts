// How late this process is with what it does: so late its reading of the time of an arrival may be.
const EVERY_MS = 20
/** The clocks of others, the way of a request, and what falls between two ticks. */
const ALWAYS_MS = 150
const AROUND_MS = 3000
/** An arrival is taken, read and noted in turns of their own, each of which may be late. */
const TURNS_MS = 1500

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
    around(at) {
      const near = late.filter((each) => Math.abs(each.at - at) < AROUND_MS)
      const before = near.filter((each) => each.at > at - TURNS_MS && each.at <= at + EVERY_MS)
      const together = before.reduce((sum, each) => sum + each.ms, 0)
      return ALWAYS_MS + Math.max(together, ...near.map((each) => each.ms))
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
