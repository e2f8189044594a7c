import type { Pool } from 'pg'
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
  /** One call, that asks nothing of the service but an answer. */
  readonly probe: () => Promise<Sign>
  readonly random: () => number
  readonly onChange: (event: PaceEvent) => void
  /** A probe takes less than this; after it another process makes one. */
  readonly probeLastsMs?: number
}

const PROBE_LASTS_MS = 60_000

const TAKE = `
UPDATE rollcall.pace SET probe_until = clock_timestamp() + $2 * interval '1 ms'
WHERE id = 1 AND ${closedFor('$1')} AND coalesce(probe_at <= clock_timestamp(), true)
  AND coalesce(probe_until <= clock_timestamp(), true)
RETURNING ${LEASE} AS lease`

const LEAVE = `UPDATE rollcall.pace SET probe_until = NULL WHERE id = 1 AND ${LEASE} = $1`

/**
 * Makes the probe that is due, if calls are stopped for us and no other process is at it. To be called every second or
 * so while the process runs. The lease ends by itself: one who dies with it holds up the next probe, and nothing else.
 */
export function makeProbing(options: Options): () => Promise<'idle' | 'probed'> {
  const { pool, credentials, probe, random, onChange, probeLastsMs = PROBE_LASTS_MS } = options

  return async function tend() {
    const { rows } = await pool.query<{ lease: string }>(TAKE, [credentials, probeLastsMs])
    const lease = rows[0]?.lease
    if (lease === undefined) return 'idle'
    const sign = await probeOrLeave(lease)
    await store(lease, sign)
    return 'probed'
  }

  async function probeOrLeave(lease: string): Promise<Sign> {
    try {
      return await probe()
    } catch (error) {
      await pool.query(LEAVE, [lease])
      throw error
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
