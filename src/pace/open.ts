import type { Pool } from 'pg'
import type { PaceEvent } from './events.ts'
import { type Known, makeHeard } from './heard.ts'
import type { Heard, Permits } from './pace.ts'
import { makePermits } from './permits.ts'
import { makeProving } from './proving.ts'
import { reservePermits } from './row.ts'

type Options = {
  readonly pool: Pool
  /** Keyed digest of the credentials of this process. */
  readonly credentials: string
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly onChange: (event: PaceEvent) => void
}

/** One process's side of the common pace: leave to call, and what becomes known by calling. */
export function openPace({ pool, credentials, sleep, now, onChange }: Options): {
  readonly permits: Permits
  readonly heard: Heard
} {
  const known: Known = { troubled: false }
  const permits = makePermits({
    async reserve(count) {
      const reservation = await reservePermits(pool, { count, credentials })
      known.troubled = reservation.troubled
      return reservation
    },
    sleep,
    now,
  })
  const heard = makeHeard({ pool, credentials, known, drop: permits.drop, onChange })
  return makeProving({ permits, heard, sleep, now })
}
