// What a run has found is owed a repair: at its end, when all of it can be believed.
import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { readShare } from './coverage.ts'
import type { Gate, RunEnd } from './gate.ts'
import type { Share } from './share.ts'
import { MOST_AT_ONCE, type Verify } from './verify.ts'

type Options = {
  readonly pool: Pool
  /** Ids of findings. */
  readonly found: readonly string[]
  /** Of the whole run. */
  readonly share: Share
  /** A person has said that it is meant, whatever the share is. */
  readonly released: boolean
  /** When the run began, ISO 8601: who was owed a repair since then is owed no second one. */
  readonly startedAt: string
  /** One that owes repairs, within the limit on their share. */
  readonly verify: Verify
  readonly gate: Gate
  readonly maxShare: number
  readonly signal: AbortSignal
}

export type Halted = Pick<Share, 'counted' | 'drifted'> & { readonly among: 'run' | 'latest' }

export type Mended = {
  /** Customers who are owed a repair because of this run. */
  readonly owed: number
  /** Set where repairs wait: too many differ, of the run or of those looked at last. */
  readonly halted: Halted | null
  readonly end: RunEnd
}

const REPAIRABLE = `
SELECT key, coalesce(repaired_at >= $2::timestamptz, false) AS repaired FROM rollcall.finding
WHERE id = ANY($1::bigint[]) AND kind IN ('missing', 'differs', 'unexpected-access')
  AND (resolved_at IS NULL OR repaired_at >= $2::timestamptz)
ORDER BY key`

/**
 * Each is looked at once more: since it was found the customer may have changed, or the service be right again. The
 * workers carry out what is owed, behind the brake. The share of the whole run comes first: that of those looked at last
 * is about a stretch of keys.
 */
export async function mendFound(options: Options): Promise<Mended> {
  const { pool, found, share, startedAt, verify, gate, signal } = options
  type Row = { key: CustomerKey; repaired: boolean }
  const { rows } = await pool.query<Row>(REPAIRABLE, [found, startedAt])
  let owed = rows.filter(({ repaired }) => repaired).length
  const left = rows.flatMap(({ key, repaired }) => (repaired ? [] : [key]))
  if (share.over && !options.released)
    return { owed, halted: { ...share, among: 'run' }, end: { kind: 'complete' } }
  const ended = async (end: RunEnd): Promise<Mended> => {
    const { haltedAt, ...latest } = await readShare(pool, options.maxShare)
    return { owed, halted: haltedAt === null ? null : { ...latest, among: 'latest' }, end }
  }
  while (left.length > 0) {
    const room = await gate.room(() => null)
    if (typeof room === 'object') return await ended(room)
    const { verified, stopped } = await verify(left.splice(0, Math.min(room, MOST_AT_ONCE)), signal)
    gate.spent(verified)
    owed += verified.filter(({ repairing }) => repairing).length
    if (stopped) return await ended(endOf(stopped))
  }
  return await ended({ kind: 'complete' })
}

function endOf(stopped: 'asked' | 'pace' | 'mapping'): RunEnd {
  return stopped === 'mapping' ? { kind: 'refused', why: 'mapping' } : { kind: 'stopped', why: stopped }
}
