// What a run has found is owed a repair: at its end, when all of it can be believed.
import type { Pool } from 'pg'
import { retried } from '../ledger/batch.ts'
import { listed } from '../ledger/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import { readShare } from './coverage.ts'
import type { Gate, RunEnd } from './gate.ts'
import { type Lag, postponedMs, secondLookMs } from './looks.ts'
import type { Share } from './share.ts'
import { MOST_AT_ONCE, type Verify } from './verify.ts'
import { isRepairable, REPAIRABLE_KINDS, type Verified } from './words.ts'

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
  readonly lag: Lag
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
}

export type Halted = Pick<Share, 'counted' | 'drifted'> & { readonly among: 'run' | 'latest' }

export type Mended = {
  /** Customers who are owed a repair because of this run. */
  readonly owed: number
  /** Whoever is owed a sync for another reason by now. */
  readonly already: number
  /** Whoever could not be looked at again, and is owed nothing for that. */
  readonly left: number
  /** Set where repairs wait: too many differ, of the run or of those looked at last. */
  readonly halted: Halted | null
  readonly end: RunEnd
}

/** Whoever has been seen to differ in another way since is none that is right. */
const REPAIRABLE = `
SELECT key, coalesce(repaired_at >= $2::timestamptz, false) AS repaired FROM rollcall.finding
WHERE id = ANY($1::bigint[]) AND kind IN (${listed(REPAIRABLE_KINDS)})
  AND (resolved_at IS NULL OR repaired_at >= $2::timestamptz OR resolved_how = 'otherwise')
ORDER BY key`

/** Whatever they wait for; but never sooner than the service may lag. */
const LOOK_NOW = `
UPDATE rollcall.finding SET next_look_at = least(next_look_at, greatest(now(), last_seen + $2 * interval '1 ms'))
WHERE id = ANY($1::bigint[]) AND resolved_at IS NULL AND next_look_at > now()`

/** Those of whom a look has told nothing are looked at so often. */
const PASSES = 3

/**
 * Each is looked at once more: since it was found the customer may have changed, or the service be right again. The
 * workers carry out what is owed, behind the brake. The share of the whole run comes first: that of those looked at last
 * is about a stretch of keys.
 */
export async function mendFound(options: Options): Promise<Mended> {
  const { pool, found, share, startedAt, lag, sleep, signal } = options
  type Row = { key: CustomerKey; repaired: boolean }
  const { rows } = await pool.query<Row>(REPAIRABLE, [found, startedAt])
  let owed = rows.filter(({ repaired }) => repaired).length
  let keys: readonly CustomerKey[] = rows.flatMap(({ key, repaired }) => (repaired ? [] : [key]))
  if (share.over && !options.released)
    return { owed, already: 0, left: 0, halted: { ...share, among: 'run' }, end: COMPLETE }
  await retried(() => pool.query(LOOK_NOW, [found, secondLookMs(lag)]))
  let already = 0
  for (let pass = 1; ; pass++) {
    const looked = await lookOnce(keys, options)
    owed += looked.owed
    already += looked.already
    const { haltedAt, ...latest } = await readShare(pool, options.maxShare)
    // Whoever has said that it is meant has said it of all that this run has found.
    const halted = haltedAt === null || options.released ? null : ({ ...latest, among: 'latest' } as const)
    keys = halted ? looked.untold : [...looked.untold, ...looked.early]
    const over = looked.end.kind !== 'complete' || halted !== null || pass === PASSES
    if (over || keys.length === 0) return { owed, already, left: keys.length, halted, end: looked.end }
    await sleep(postponedMs(lag), signal)
  }
}

const COMPLETE: RunEnd = { kind: 'complete' }

type LookedOnce = {
  readonly owed: number
  readonly already: number
  /** A look has told nothing of them, or there was none. */
  readonly untold: readonly CustomerKey[]
  /** They differ, and it was too early to owe them a repair. */
  readonly early: readonly CustomerKey[]
  readonly end: RunEnd
}

async function lookOnce(
  keys: readonly CustomerKey[],
  { verify, gate, signal }: Options,
): Promise<LookedOnce> {
  const ahead = [...keys]
  const all: Verified[] = []
  const ended = (end: RunEnd): LookedOnce => {
    const told = new Set(all.filter((each) => !isUntold(each)).map(({ key }) => key))
    return {
      owed: all.filter(({ repairing }) => repairing).length,
      already: all.filter(isOwed).length,
      untold: keys.filter((key) => !told.has(key)),
      early: all.filter(isEarly).map(({ key }) => key),
      end,
    }
  }
  while (ahead.length > 0) {
    const room = await gate.room(() => null)
    if (typeof room === 'object') return ended(room)
    const { verified, stopped } = await verify(ahead.splice(0, Math.min(room, MOST_AT_ONCE)), signal)
    gate.spent(verified)
    all.push(...verified)
    if (stopped) return ended(endOf(stopped))
  }
  return ended(COMPLETE)
}

/** Whoever is owed something is synced anyway, by what the look that found it has shown. */
function isUntold({ verdict }: Verified): boolean {
  if (verdict.kind === 'no-answer') return true
  return verdict.kind === 'skipped' && (verdict.why === 'moved' || verdict.why === 'just-settled')
}

function isOwed({ verdict }: Verified): boolean {
  return verdict.kind === 'skipped' && verdict.why === 'owed'
}

function isEarly({ verdict: { kind }, repairing, lookAgainInMs }: Verified): boolean {
  return isRepairable(kind) && !repairing && lookAgainInMs !== null
}

function endOf(stopped: 'asked' | 'pace' | 'mapping'): RunEnd {
  return stopped === 'mapping' ? { kind: 'refused', why: 'mapping' } : { kind: 'stopped', why: stopped }
}
