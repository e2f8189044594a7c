import type { Pool } from 'pg'
import { forsaken, isClosedFor } from './breaker.ts'
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

/** A process looks for its probe twice a second: of one that is so much overdue nobody is left to make it. */
const NOBODY_PROBES_MS = 5000

/** Those whose credentials are refused, where ours are not. */
const OTHERS_REFUSED = `
SELECT credentials, probe_at < clock_timestamp() - interval '${NOBODY_PROBES_MS} ms' AND ${passed('probe_until')} AS forsaken
FROM rollcall.pace WHERE cause = 'credentials' AND NOT ${closedFor('$1')}`

const ASK_NOW = `
UPDATE rollcall.pace SET probe_at = clock_timestamp()
WHERE id = 1 AND cause = 'credentials' AND credentials = $1 AND probe_at > clock_timestamp()`

const LEAVE = `UPDATE rollcall.pace SET probe_until = NULL WHERE id = 1 AND ${LEASE} = $1`

/**
 * Makes the probe that is due, if calls are stopped for us and no other process is at it. To be called every second or
 * so while the process runs. The lease ends by itself: one who dies with it holds up the next probe, and nothing else.
 */
export function makeProbing(options: Options): () => Promise<'idle' | 'probed'> {
  const { pool, credentials, probe, random, onChange, probeLastsMs = PROBE_LASTS_MS } = options

  /** The refused credentials that this process has had asked about. */
  let asked: string | null = null

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

  /**
   * Where nobody is left that has the refused credentials, no probe will ever tell. So whoever comes with others has a
   * probe made at once, which would be due in a minute, and lets the refused ones go where nobody makes it.
   */
  async function letForsakenGo(): Promise<void> {
    const { rows } = await pool.query<{ credentials: string; forsaken: boolean }>(OTHERS_REFUSED, [
      credentials,
    ])
    const [others] = rows
    const isNew = others !== undefined && others.credentials !== asked
    asked = others?.credentials ?? null
    if (isNew) await pool.query(ASK_NOW, [asked])
    if (isNew || !others?.forsaken) return
    const { before, after, now } = await changePace(pool, ({ pace, now }) => {
      const { cause, probeAt } = pace.breaker
      const late = now - (probeAt ?? now) > NOBODY_PROBES_MS
      const gone = cause === 'credentials' && late && !isClosedFor(pace.breaker, credentials)
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
