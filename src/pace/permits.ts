import { HORIZON_MS, type Reservation } from './row.ts'

/** Leave to make one HTTP call. One that was not needed is given back. */
export type Permit = { readonly usableUntil: number }

export type Permits = {
  take(signal: AbortSignal): Promise<Permit>
  giveBack(permit: Permit): void
  /** Forgets what is reserved, after the service asked everybody to wait. */
  drop(): void
}

type Options = {
  readonly reserve: (count: number) => Promise<Reservation>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}

/** A permit that waited longer than this is no longer within the pace that the row had granted. */
const SHELF_LIFE_MS = HORIZON_MS + 250

/**
 * One process's share of the common pace. Waiters are served in order; one reservation at a time is made for
 * all who wait, so that the row is asked a few times a second and not once per call.
 */
export function makePermits({ reserve, sleep, now }: Options): Permits {
  const shelf: Permit[] = []
  let waiting = 0
  let turn: Promise<unknown> = Promise.resolve()
  let granted: Grant | null = null
  let drops = 0

  async function next(signal: AbortSignal): Promise<Permit> {
    for (;;) {
      signal.throwIfAborted()
      const kept = shelf.pop()
      if (kept && kept.usableUntil >= now()) return kept
      if (kept) continue
      if (!granted || granted.left === 0) {
        await ask(signal)
        continue
      }
      // Slept through before it is taken: an abort leaves it to the next in line, and a drop takes it away.
      if (granted.at > now()) {
        await sleep(granted.at - now(), signal)
        continue
      }
      const { at, spacing, left } = granted
      granted = { at: at + spacing, spacing, left: left - 1 }
      if (at + SHELF_LIFE_MS >= now()) return { usableUntil: at + SHELF_LIFE_MS }
    }
  }

  async function ask(signal: AbortSignal): Promise<void> {
    const asked = now()
    const before = drops
    const { count, startMs, spacingMs } = await reserve(waiting)
    // Reserved perhaps before the service asked everybody to wait, and handed out after it.
    if (before !== drops) return
    granted = count > 0 ? { at: asked + startMs, spacing: spacingMs, left: count } : null
    if (count === 0) await sleep(Math.max(1, startMs - HORIZON_MS), signal)
  }

  return {
    take(signal) {
      waiting++
      const mine = turn.then(() => next(signal)).finally(() => waiting--)
      turn = mine.catch(() => undefined)
      return mine
    },
    giveBack(permit) {
      shelf.push(permit)
    },
    drop() {
      drops++
      shelf.length = 0
      granted = null
    },
  }
}

/** Permits that the row has granted: the next one is usable at `at`, each further one `spacing` later. */
type Grant = { readonly at: number; readonly spacing: number; readonly left: number }
