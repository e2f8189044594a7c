import type { Pool } from 'pg'
import { makeBatch } from '../database/batch.ts'
import { nameOf } from '../model/name-of.ts'
import { afterCalls, isTroubled } from './common.ts'
import { eventsOf, type PaceEvent } from './events.ts'
import { makeKeys } from './keys.ts'
import type { CallOutcome, Permits, ReportOutcome } from './pace.ts'
import { makePermits } from './permits.ts'
import { makeProbing, type ProbeService } from './probing.ts'
import { currentRate, reservePermits } from './row.ts'
import { changePace } from './stored.ts'

type Options = {
  readonly pool: Pool
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly random: () => number
  readonly onChange: (event: PaceEvent) => void
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

/** Whether a call may be made now. While none may, this makes the probe that is due. */
export async function mayCall(
  pace: Pick<Pace, 'rate' | 'probeIfDue'>,
  probe: ProbeService,
): Promise<boolean> {
  if ((await pace.rate()) > 0) return true
  await pace.probeIfDue(probe)
  return (await pace.rate()) > 0
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

/** This process' knowledge of the row, from its last reservation or report. */
type Known = { troubled: boolean }

type Reporting = Pick<Options, 'pool' | 'onChange'> & {
  readonly known: Known
  /** Forgets the permits that were reserved before a report. */
  readonly drop: () => void
}

/**
 * Stores what calls tell of the service, several in one transaction. Good calls of a service that works cost no
 * statement: they are reported only while there is something that they end.
 */
function makeReportOutcome({ pool, known, drop, onChange }: Reporting): ReportOutcome {
  const load = makeBatch<CallOutcome, null>(async (calls) => {
    await store(calls)
    return calls.map(() => null)
  })

  /** Calls that are on their way to the row. */
  let storing = 0

  async function store(calls: readonly CallOutcome[]): Promise<void> {
    const { before, after, now } = await changePace(pool, ({ pace, now }) => ({
      pace: afterCalls(pace, calls, now),
    }))
    known.troubled = isTroubled(after)
    const slower = after.epoch > before.epoch || (after.notBefore ?? 0) > (before.notBefore ?? 0)
    if (slower || after.breaker.state === 'open') drop()
    for (const event of eventsOf(before, after, now)) onChange(event)
  }

  // Whatever becomes of it: the claim that made the call has an ending to store.
  return async (call) => {
    if (!tells(call, known.troubled || storing > 0)) return
    // From now on, and not from when the row says so: good calls in between would be missing in the count.
    storing++
    try {
      await load(call)
    } catch (error) {
      onChange({ kind: 'unreported', ...nameOf(error) })
    } finally {
      storing--
    }
  }
}

function tells({ health, busy, holdMs }: CallOutcome, troubled: boolean): boolean {
  return busy || holdMs > 0 || health === 'trouble' || (health === 'well' && troubled)
}
