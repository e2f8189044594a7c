import type { Permit, Permits } from './pace.ts'
import { HORIZON_MS, type Reservation } from './row.ts'

type Granting = Omit<Reservation, 'troubled'>

type Options = {
  readonly reserve: (count: number) => Promise<Granting>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}

/** A permit that waited longer than this is no longer within the pace that the row had granted. */
const SHELF_LIFE_MS = HORIZON_MS + 250
/** The row is read again after this: meanwhile another process may have changed it. */
const LONGEST_SLEEP_MS = 1000

/**
 * One process's share of the common pace. Waiters are served in order; one reservation at a time is made for all
 * waiting calls. So the row is asked a few times a second and not once per call.
 */
export function makePermits({ reserve, sleep, now }: Options): Permits {
  const shelf: Permit[] = []
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  let granted: Grant | null = null
  let drops = 0
  /** All who wait are sent away together, without asking for each of them. */
  let closedUntil = Number.NEGATIVE_INFINITY

  async function next(signal: AbortSignal): Promise<Permit | null> {
    for (;;) {
      if (signal.aborted || closedUntil > now()) return null
      const permit = shelf.pop()
      if (permit && permit.usableUntil >= now()) return permit
      if (permit) continue
      if (!granted || granted.left === 0) {
        await ask(signal)
        continue
      }
      // Slept through before it is taken: an abort leaves it to the next in line, and a drop takes it away.
      if (granted.at > now()) {
        await sleep(granted.at - now(), signal)
        continue
      }
      const { at, spacing, left, epoch } = granted
      granted = { ...granted, at: at + spacing, left: left - 1 }
      if (at + SHELF_LIFE_MS >= now()) return { usableUntil: at + SHELF_LIFE_MS, epoch, drops }
    }
  }

  async function ask(signal: AbortSignal): Promise<void> {
    const askedAt = now()
    const before = drops
    const { count, startMs, spacingMs, epoch, closed } = await reserve(waiting)
    // Reserved perhaps before the service asked all processes to wait, and handed out after it.
    if (before !== drops) return
    if (closed) {
      closedUntil = now() + HORIZON_MS
      shelf.length = 0
    }
    granted = count > 0 ? { at: askedAt + startMs, spacing: spacingMs, left: count, epoch } : null
    if (count === 0 && !closed)
      await sleep(Math.min(LONGEST_SLEEP_MS, Math.max(1, startMs - HORIZON_MS)), signal)
  }

  return {
    take(signal) {
      waiting++
      const mine = last.then(() => next(signal)).finally(() => waiting--)
      last = mine.catch(() => undefined)
      return mine
    },
    stands: (permit) => permit.drops === drops && permit.usableUntil + LONGEST_SLEEP_MS >= now(),
    giveBack(permit) {
      if (permit.drops === drops) shelf.push(permit)
    },
    drop() {
      drops++
      closedUntil = Number.NEGATIVE_INFINITY
      shelf.length = 0
      granted = null
    },
  }
}

/** Permits that the row has granted: the next one is usable at `at`, each further one `spacing` later. */
type Grant = { readonly at: number; readonly spacing: number; readonly left: number; readonly epoch: string }
