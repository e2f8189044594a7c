import type { Pool } from 'pg'
import { CURRENT_FINGERPRINT } from '../ledger/generation.ts'
import { type Binding, isBoundBy } from '../ledger/target.ts'
import { LANE } from '../model/customer.ts'
import { currentRate } from '../pace/row.ts'
import type { Circumstances } from './allowance.ts'

/** Whoever is due is taken within a fraction of this, unless dispatch is behind. */
const BEHIND = `clock_timestamp() - interval '1 second'`

const CIRCUMSTANCES = `
SELECT EXISTS (SELECT FROM rollcall.owed WHERE lane = ANY($1) AND due_at < ${BEHIND})
    OR coalesce((SELECT at FROM rollcall.outbox ORDER BY id LIMIT 1) < ${BEHIND}, false) AS "liveWaits",
  coalesce(${CURRENT_FINGERPRINT} = $2, false)
    AND ${isBoundBy('$3')} AS current,
  coalesce((SELECT swept_at IS NOT NULL FROM rollcall.generation ORDER BY id DESC LIMIT 1), false) AS swept,
  EXISTS (SELECT FROM rollcall.capture_mark
    WHERE resynced_at IS NULL AND (kind = 'overflow' OR resolved_at IS NOT NULL)) AS gap`

const LIVE = [LANE.deletion, LANE.change, LANE.repair]

type Asked = { readonly fingerprint: string; readonly binding: Binding; readonly credentials: string }

export async function readCircumstances(
  pool: Pool,
  { fingerprint, binding, credentials }: Asked,
): Promise<Circumstances> {
  type Read = Omit<Circumstances, 'rate'>
  const { rows } = await pool.query<Read>(CIRCUMSTANCES, [LIVE, fingerprint, binding])
  const [read] = rows
  if (!read) throw new Error('the circumstances are one row')
  return { ...read, rate: await currentRate(pool, credentials) }
}
