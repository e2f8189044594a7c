import type { Pool } from 'pg'
import { makeBatch } from '../database/batch.ts'
import { nameOf } from '../model/name-of.ts'
import { afterCalls, isTroubled } from './common.ts'
import { eventsOf, type PaceEvent } from './events.ts'
import type { CallOutcome, ReportOutcome } from './pace.ts'
import { changePace } from './stored.ts'

/** This process' knowledge of the row, from its last reservation or report. */
export type Known = { troubled: boolean }

type Options = {
  readonly pool: Pool
  readonly known: Known
  /** Forgets the permits that were reserved before a report. */
  readonly drop: () => void
  readonly onChange: (event: PaceEvent) => void
}

/**
 * Stores what calls tell of the service, several in one transaction. Good calls of a service that works cost no
 * statement: they are reported only while there is something that they end.
 */
export function makeReportOutcome({ pool, known, drop, onChange }: Options): ReportOutcome {
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
