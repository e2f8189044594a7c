import type { Pool } from 'pg'
import { isProbeDue } from './breaker.ts'
import { afterProbe } from './common.ts'
import { eventsOf, type PaceEvent } from './events.ts'
import type { makeKeys } from './keys.ts'
import type { ServiceHealth } from './pace.ts'
import { changePace, LEASE } from './stored.ts'

/**
 * One call that asks nothing of the service but an answer, about a customer who is not among these (row ids); null: we
 * broke it off ourselves, and it says nothing.
 */
export type ProbeService = (denied: readonly string[]) => Promise<ServiceHealth | null>

type Options = {
  readonly pool: Pool
  readonly keys: Pick<ReturnType<typeof makeKeys>, 'areRefused' | 'isProbeDue' | 'denied' | 'probed'>
  readonly random: () => number
  readonly onChange: (event: PaceEvent) => void
  /** A probe takes less than this; after it another process makes one. */
  readonly probeLastsMs: number
}

/** Further ahead than it can be is a time of a clock that was set back. */
const passed = (time: string) =>
  `coalesce(${time} <= clock_timestamp() OR ${time} > clock_timestamp() + interval '1 hour', true)`

/** A wait that the service asked for binds a probe, too. */
const FREE = `id = 1 AND ${passed('not_before')}`

const TAKE = `
UPDATE rollcall.pace SET probe_until = clock_timestamp() + $1 * interval '1 ms'
WHERE ${FREE} AND breaker = 'open' AND ${passed('probe_at')} AND ${passed('probe_until')}
RETURNING ${LEASE} AS lease`

const LEAVE = `UPDATE rollcall.pace SET probe_until = NULL WHERE id = 1 AND ${LEASE} = $1`

/**
 * Makes the probe that is due: of our own keys, or in an outage, if no other process is at it. To be called every second
 * or so. The lease ends by itself: a process that dies with it holds up the next probe, and nothing else.
 */
export function makeProbing({ pool, keys, random, onChange, probeLastsMs }: Options) {
  return async function probeIfDue(probe: ProbeService): Promise<'idle' | 'probed'> {
    if (keys.isProbeDue()) {
      const { rowCount } = await pool.query(`SELECT FROM rollcall.pace WHERE ${FREE}`)
      return rowCount === 0 ? 'idle' : tell(await probe(keys.denied()))
    }
    // Refused keys say nothing of an outage behind what refuses them.
    if (keys.areRefused()) return 'idle'
    const { rows } = await pool.query<{ lease: string }>(TAKE, [probeLastsMs])
    const lease = rows[0]?.lease
    if (lease === undefined) return 'idle'
    let health: ServiceHealth | null = null
    try {
      health = await probe(keys.denied())
    } finally {
      // Without an answer, and with keys that are refused, nothing is known of the service: the next one may ask.
      if (health === null || health === 'denied') await pool.query(LEAVE, [lease])
    }
    const outcome = tell(health)
    if (health !== null && health !== 'denied') await store(lease, health)
    return outcome
  }

  function tell(health: ServiceHealth | null): 'idle' | 'probed' {
    if (health === null) return 'idle'
    onChange({ kind: 'probed', health })
    keys.probed(health)
    return 'probed'
  }

  /** An answer that comes after its lease belongs to a question that another process has asked anew. */
  async function store(lease: string, health: ServiceHealth): Promise<void> {
    const { before, after, now } = await changePace(pool, (found) => {
      const ended = found.lease === lease
      const counts = ended && isProbeDue(found.pace.breaker, found.now)
      if (!counts) return { pace: found.pace, ended }
      return { ...afterProbe(found.pace, { health, now: found.now, random: random() }), ended }
    })
    for (const event of eventsOf(before, after, now)) onChange(event)
  }
}
