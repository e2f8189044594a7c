// How far verification has come and what it has found; counts and times only.
import type { ClientBase } from 'pg'
import { isDenied, readEvidence } from './evidence.ts'
import { type HeldAccess, readHeldAccess } from './held.ts'
import { countOpen, type OpenCount } from './list.ts'
import { SEEN_AT, VERIFIABLE } from './verifiable.ts'
import { DRIFT_KINDS, type DriftKind, WRONG_ACCESS, type WrongAccess } from './words.ts'

type Client = Pick<ClientBase, 'query'>

export type Coverage = {
  /** Within which everybody is to be looked at; null: workers look at nobody. */
  readonly periodMs: number | null
  /** Whom a look can say something about. */
  readonly customers: number
  /** Of these, who was looked at within the period; a look of a sync counts where it agreed. */
  readonly within: number
  /** Who was never looked at. */
  readonly never: number
  /** Of those who were, how long ago the longest ago was. */
  readonly oldestAgeMs: number | null
  /** Who ought to have been looked at by now: 0 until workers have been at it for a whole period. */
  readonly overdue: number
  /** From the commit of a change to the GET that showed all of it, of those proved last; null: of none. */
  readonly proof: { readonly customers: number; readonly medianMs: number; readonly p95Ms: number } | null
}

export type VerificationReport = {
  readonly coverage: Coverage
  /** Confirmed differences that are open. */
  readonly open: Readonly<Record<DriftKind, number>>
  /** Of these, those about access, and with them whoever is held: a customer counts once. */
  readonly access: Readonly<Record<WrongAccess, number>>
  /** Of those about access, whom the brake holds. */
  readonly heldAccess: Readonly<Record<WrongAccess, number>>
  /**
   * What the service says of the last sample of users, where it says of too many that they are not there, or what
   * nobody can read: then that is confirmed of nobody. Null: it can be believed.
   */
  readonly doubt: { readonly denied: number; readonly asked: number } | null
}

/** So many changes tell how long it takes. */
const PROVED = 1000

const COVERAGE = `
WITH seen AS MATERIALIZED (SELECT ${SEEN_AT} AS at, l.changed_at, l.proved_at FROM rollcall.ledger l WHERE ${VERIFIABLE}),
proved AS (
  SELECT (extract(epoch FROM proved_at - changed_at) * 1000)::float8 AS ms FROM seen
  WHERE proved_at >= changed_at ORDER BY proved_at DESC LIMIT ${PROVED})
SELECT count(*)::float8 AS customers,
  count(*) FILTER (WHERE at >= now() - $1 * interval '1 ms')::float8 AS within,
  count(*) FILTER (WHERE at IS NULL)::float8 AS never,
  (extract(epoch FROM now() - min(at)) * 1000)::float8 AS "oldestAgeMs",
  EXISTS (SELECT FROM rollcall.pace WHERE checks_since < now() - $1 * interval '1 ms') AS long,
  (SELECT CASE WHEN count(*) > 0 THEN jsonb_build_object('customers', count(*),
     'medianMs', percentile_cont(0.5) WITHIN GROUP (ORDER BY ms),
     'p95Ms', percentile_cont(0.95) WITHIN GROUP (ORDER BY ms)) END FROM proved) AS proof
FROM seen`

type CoverageRow = Omit<Coverage, 'periodMs' | 'overdue'> & { readonly long: boolean }

export async function readVerification(client: Client, periodMs: number | null): Promise<VerificationReport> {
  const { rows } = await client.query<CoverageRow>(COVERAGE, [periodMs ?? 0])
  const [row] = rows
  if (!row) throw new Error('coverage is one row')
  const { long, ...coverage } = row
  const overdue = periodMs !== null && long ? coverage.customers - coverage.within : 0
  return {
    coverage: { periodMs, ...coverage, overdue },
    doubt: await readDoubt(client),
    ...openOf(await countOpen(client), await readHeldAccess(client)),
  }
}

/** A doubt is asked about again every minute or so: after an hour nobody looks any more. */
const HOUR_MS = 3_600_000

/** Too few answers are no reason to doubt the service, only to confirm nothing yet. */
export async function readDoubt(client: Client): Promise<VerificationReport['doubt']> {
  const evidence = await readEvidence(client)
  if (evidence === null || evidence.meant || evidence.ageMs > HOUR_MS || !isDenied(evidence)) return null
  return { denied: evidence.denied, asked: evidence.asked }
}

function openOf(
  counts: readonly OpenCount[],
  held: HeldAccess,
): Pick<VerificationReport, 'open' | 'access' | 'heldAccess'> {
  const sum = (some: readonly OpenCount[]) => some.reduce((total, { count }) => total + count, 0)
  const open = DRIFT_KINDS.map((kind) => [kind, sum(counts.filter((each) => each.kind === kind))])
  const access = WRONG_ACCESS.map((which) => [
    which,
    sum(counts.filter((each) => each.access === which)) + (held[which] ?? 0),
  ])
  const heldAccess = WRONG_ACCESS.map((which) => [which, held[which] ?? 0])
  return {
    open: Object.fromEntries(open),
    access: Object.fromEntries(access),
    heldAccess: Object.fromEntries(heldAccess),
  }
}
