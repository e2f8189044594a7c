import type { Pool } from 'pg'
import type { PaceEvent } from './events.ts'
import { makeKeys } from './keys.ts'
import type { Permits, ReportOutcome } from './pace.ts'
import { makePermits } from './permits.ts'
import { makeProbing, type ProbeService } from './probing.ts'
import { type Known, makeReportOutcome } from './report-outcome.ts'
import { currentRate, reservePermits } from './row.ts'

type Options = {
  readonly pool: Pool
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly random: () => number
  readonly onChange: (event: PaceEvent) => void
  /** How long the answer to a call may take. */
  readonly timeoutMs: number
}

/** One process's side of the common pace: leave to call, and what becomes known by calling. */
export type Pace = {
  readonly permits: Permits
  readonly report: ReportOutcome
  /** Calls per second that may be made now; 0 while this process may make none. */
  rate(): Promise<number>
  /** Makes the probe that is due while no call may be made; see probing.ts. */
  probeIfDue(probe: ProbeService): Promise<'idle' | 'probed'>
}

const PROBE_LASTS_MS = 60_000
const PROBE_GRACE_MS = 10_000

export function shareRow(options: Pick<Options, 'pool' | 'sleep' | 'now' | 'onChange'>) {
  const { pool, sleep, now, onChange } = options
  const known: Known = { troubled: false }
  const permits = makePermits({
    async reserve(count) {
      const reservation = await reservePermits(pool, count)
      known.troubled = reservation.troubled
      return reservation
    },
    sleep,
    now,
  })
  return { permits, report: makeReportOutcome({ pool, known, drop: permits.drop, onChange }) }
}

export function openPace(options: Options): Pace {
  const { pool, sleep, now, random, onChange, timeoutMs } = options
  const { permits: common, report: reportCommon } = shareRow(options)
  const keys = makeKeys({ permits: common, report: reportCommon, sleep, now, random, onChange })
  const probeLastsMs = Math.max(PROBE_LASTS_MS, timeoutMs + PROBE_GRACE_MS)
  const probeIfDue = makeProbing({ pool, keys, random, onChange, probeLastsMs })
  const { permits, report } = keys
  return {
    permits,
    report,
    rate: async () => (keys.areStopped() ? 0 : await currentRate(pool)),
    async probeIfDue(probe) {
      const what = await probeIfDue(probe)
      // No call waits for a permit that was reserved or refused before.
      if (what === 'probed') common.drop()
      return what
    },
  }
}
