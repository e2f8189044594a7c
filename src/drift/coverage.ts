// How far checks have come and what they have found; counts and times only.
import { type Client, oneRow } from '../database/client.ts'
import { ms } from '../database/sql.ts'
import { isTooStrange, readEvidence } from './evidence.ts'
import { countOpen } from './found.ts'
import { readHeldAccess } from './held-access.ts'
import { CHECKABLE, CHECKED_AT, type DriftKind, type WrongAccess } from './words.ts'

export type Coverage = {
  /** Within which all customers are to be checked; null: workers check none. */
  readonly periodMs: number | null
  /** Customers about which a check can say something. */
  readonly customers: number
  /** How many of these were checked within the period; a lookup of a sync counts where it agreed. */
  readonly within: number
  readonly never: number
  /** How long ago the oldest of the others was. */
  readonly oldestAgeMs: number | null
  /** To be checked by now, and were not: 0 until workers have been at it for a whole period. */
  readonly overdue: number
  /** From the commit of a change to the GET that showed all of it, of those verified last; null: of none. */
  readonly proof: { readonly customers: number; readonly medianMs: number; readonly p95Ms: number } | null
}

export type VerificationReport = {
  readonly coverage: Coverage
  readonly open: Readonly<Record<DriftKind, number>>
  /** Findings among these about access, and customers who are held: a customer counts once. */
  readonly access: Readonly<Record<WrongAccess, number>>
  readonly heldAccess: Readonly<Record<WrongAccess, number>>
  /** The last sample, where too many of its users are not there or unreadable (`missing`). Null: it is credible. */
  readonly notCredible: { readonly missing: number; readonly asked: number } | null
}

const PROVED = 1000

const COVERAGE = `
WITH seen AS MATERIALIZED (SELECT ${CHECKED_AT} AS at, l.changed_at, l.proved_at FROM rollcall.ledger l WHERE ${CHECKABLE}),
proved AS (
  SELECT ${ms('proved_at - changed_at')} AS ms FROM seen
  WHERE proved_at >= changed_at ORDER BY proved_at DESC LIMIT ${PROVED})
SELECT count(*)::float8 AS customers,
  count(*) FILTER (WHERE at >= now() - $1 * interval '1 ms')::float8 AS within,
  count(*) FILTER (WHERE at IS NULL)::float8 AS never,
  ${ms('now() - min(at)')} AS "oldestAgeMs",
  EXISTS (SELECT FROM rollcall.pace WHERE checks_since < now() - $1 * interval '1 ms') AS long,
  (SELECT CASE WHEN count(*) > 0 THEN jsonb_build_object('customers', count(*),
     'medianMs', percentile_cont(0.5) WITHIN GROUP (ORDER BY ms),
     'p95Ms', percentile_cont(0.95) WITHIN GROUP (ORDER BY ms)) END FROM proved) AS proof
FROM seen`

type CoverageRow = Omit<Coverage, 'periodMs' | 'overdue'> & { readonly long: boolean }

export async function readVerification(client: Client, periodMs: number | null): Promise<VerificationReport> {
  const { long, ...coverage } = await oneRow<CoverageRow>(client, COVERAGE, [periodMs ?? 0])
  const overdue = periodMs !== null && long ? coverage.customers - coverage.within : 0
  const open = { missing: 0, differs: 0, 'unexpected-access': 0, unreadable: 0, 'trial-ended': 0 }
  const heldAccess = { lost: 0, undue: 0, ...(await readHeldAccess(client)) }
  const access = { ...heldAccess }
  for (const { kind, access: wrong, count } of await countOpen(client)) {
    open[kind] += count
    if (wrong !== null) access[wrong] += count
  }
  const notCredible = await readNotCredible(client)
  return { coverage: { periodMs, ...coverage, overdue }, open, access, heldAccess, notCredible }
}

/** A sample that is not credible is repeated every minute or so: after an hour no worker checks any more. */
const HOUR_MS = 3_600_000

/** Too few answers are no reason to call the service not credible, only to confirm nothing yet. */
export async function readNotCredible(client: Client): Promise<VerificationReport['notCredible']> {
  const evidence = await readEvidence(client)
  if (evidence === null || evidence.meant || evidence.ageMs > HOUR_MS || !isTooStrange(evidence)) return null
  return { missing: evidence.strange, asked: evidence.asked }
}
