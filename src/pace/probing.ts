import type { Pool } from 'pg'
import { forsaken, isClosedFor, isForsaken, NOBODY_PROBES_MS } from './breaker.ts'
import { afterProbe } from './common.ts'
import { eventsOf, type PaceEvent } from './events.ts'
import type { Sign } from './pace.ts'
import { isProbeDue } from './probed.ts'
import { closedFor } from './row.ts'
import { changePace, LEASE } from './stored.ts'

type Options = {
  readonly pool: Pool
  /** Of this process: a keyed digest. */
  readonly credentials: string
  /** One call, that asks nothing of the service but an answer; null: we broke it off ourselves, and it says nothing. */
  readonly probe: () => Promise<Sign | null>
  readonly random: () => number
  readonly onChange: (event: PaceEvent) => void
  /** A probe takes less than this; after it another process makes one. */
  readonly probeLastsMs?: number
}

const PROBE_LASTS_MS = 60_000

/** Further ahead than it can be is a time of a clock that was set back. */
const passed = (time: string) =>
  `coalesce(${time} <= clock_timestamp() OR ${time} > clock_timestamp() + interval '1 hour', true)`

const TAKE = `
UPDATE rollcall.pace SET probe_until = clock_timestamp() + $2 * interval '1 ms'
WHERE id = 1 AND ${closedFor('$1')} AND ${passed('probe_at')} AND ${passed('probe_until')}
RETURNING ${LEASE} AS lease`

const FORSAKEN = `
SELECT FROM rollcall.pace WHERE cause = 'credentials' AND NOT ${closedFor('$1')}
  AND probe_at < clock_timestamp() - interval '${NOBODY_PROBES_MS} ms'`

const LEAVE = `UPDATE rollcall.pace SET probe_until = NULL WHERE id = 1 AND ${LEASE} = $1`

/**
 * Makes the probe that is due, if calls are stopped for us and no other process is at it. To be called every second or
 * so while the process runs. The lease ends by itself: one who dies with it holds up the next probe, and nothing else.
 */
export function makeProbing(options: Options): () => Promise<'idle' | 'probed'> {
  const { pool, credentials, probe, random, onChange, probeLastsMs = PROBE_LASTS_MS } = options

  return async function tend() {
    await letForsakenGo()
    const { rows } = await pool.query<{ lease: string }>(TAKE, [credentials, probeLastsMs])
    const lease = rows[0]?.lease
    if (lease === undefined) return 'idle'
    const sign = await probeOrLeave(lease)
    if (sign === null) return 'idle'
    await store(lease, sign)
    return 'probed'
  }

  /** Nobody is left that has the refused credentials, so that no probe will ever tell. */
  async function letForsakenGo(): Promise<void> {
    const { rowCount } = await pool.query(FORSAKEN, [credentials])
    if (rowCount === 0) return
    const { before, after, now } = await changePace(pool, ({ pace, now }) => {
      const gone = isForsaken(pace.breaker, now) && !isClosedFor(pace.breaker, credentials)
      return { pace: gone ? { ...pace, breaker: forsaken(pace.breaker) } : pace, giveBack: {} }
    })
    for (const event of eventsOf(before, after, now)) onChange(event)
  }

  /** Without an answer the next who asks need not wait for the end of the lease. */
  async function probeOrLeave(lease: string): Promise<Sign | null> {
    let sign: Sign | null = null
    try {
      sign = await probe()
      return sign
    } finally {
      if (sign === null) await pool.query(LEAVE, [lease])
    }
  }

  /** An answer that comes after its lease belongs to a question that somebody else has asked anew. */
  async function store(lease: string, sign: Sign): Promise<void> {
    let counted = false
    const { before, after, now } = await changePace(pool, (found) => {
      counted = found.lease === lease && isProbeDue(found.pace.breaker, credentials, found.now)
      if (!counted) return { pace: found.pace, giveBack: {}, ended: found.lease === lease }
      const asked = { sign, credentials, now: found.now, random: random() }
      return { ...afterProbe(found.pace, asked), ended: true }
    })
    const { cause } = before.breaker
    if (!counted || cause === null) return
    onChange({ kind: 'probed', cause, sign, failed: after.breaker.failed })
    for (const event of eventsOf(before, after, now)) onChange(event)
  }
}
