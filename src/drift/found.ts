// Findings for a report: those of one run, and what the rounds of the workers know without a call.
import type { ClientBase } from 'pg'
import { iso } from '../ledger/sql.ts'
import { BELIEVED, TOLD } from './believed.ts'
import { readHeldAccess } from './held-read.ts'
import { SEEN_AT, VERIFIABLE } from './rounds.ts'
import { EMPTY_TALLY, plus, tallyOf } from './tally.ts'
import type { Finding, Tally } from './words.ts'

type Client = Pick<ClientBase, 'query'>

const COLUMNS = `f.id::text, f.key, f.user_id AS "userId", f.kind, to_jsonb(f.fields) AS fields, f.cause, f.access, f.looks, f.repairs,
  ${iso('f.first_seen')} AS "firstSeen", ${iso('f.last_seen')} AS "lastSeen",
  ${iso('f.resolved_at')} AS "resolvedAt", f.resolved_how AS "resolvedHow"`

/** Somebody who is shut out first, then the most serious kinds, then by key. */
const ORDER = `array_position(ARRAY['lost', 'undue'], f.access) NULLS LAST, array_position(ARRAY['unexpected-access', 'missing', 'differs', 'unreadable', 'trial-ended'], f.kind), f.key`

/** Those of these ids that are still kept. */
export async function readFound(client: Client, ids: readonly string[]): Promise<readonly Finding[]> {
  const { rows } = await client.query<Finding>(
    `SELECT ${COLUMNS} FROM rollcall.finding f WHERE f.id = ANY($1::bigint[]) ORDER BY ${ORDER}`,
    [ids],
  )
  return rows
}

/** All that are confirmed and open, and can be believed. */
export async function readOpenFound(client: Client): Promise<readonly Finding[]> {
  const { rows } = await client.query<Finding>(
    `SELECT ${COLUMNS} FROM rollcall.finding f WHERE ${TOLD} ORDER BY ${ORDER}`,
  )
  return rows
}

/** Of the ledger (`l`): a finding that is told is open, or one that is not told. */
const FOUND = `EXISTS (SELECT FROM rollcall.finding f WHERE f.key = l.key AND ${TOLD})`
const SUSPECTED = `EXISTS (SELECT FROM rollcall.finding f WHERE f.key = l.key AND f.resolved_at IS NULL AND NOT (${TOLD}))`

const KNOWN = `
SELECT count(*)::float8 AS population,
  count(*) FILTER (WHERE ${VERIFIABLE})::float8 AS chosen,
  count(*) FILTER (WHERE ${VERIFIABLE} AND ${SEEN_AT} IS NOT NULL AND NOT ${SUSPECTED}
    AND ($1::float8 IS NULL OR ${SEEN_AT} >= now() - $1 * interval '1 ms'))::float8 AS looked,
  count(*) FILTER (WHERE l.state = 'rejected')::float8 AS rejected,
  count(*) FILTER (WHERE l.state = 'held' AND NOT ${FOUND})::float8 AS held,
  count(*) FILTER (WHERE l.state = 'discarded')::float8 AS discarded,
  (SELECT count(*) FROM rollcall.finding f
    WHERE f.resolved_at IS NULL AND f.looks = 1 AND ${BELIEVED})::float8 AS suspected,
  ${iso('now()')} AS now
FROM rollcall.ledger l`

export type KnownOfAll = {
  /** Customers with a record. */
  readonly population: number
  /** Of them, those of whom a look can say something. */
  readonly chosen: number
  readonly tally: Tally
  readonly suspected: number
  /** ISO 8601. */
  readonly now: string
}

/**
 * What the rounds have found out, counted as a run would count it: whoever was looked at within the period counts as
 * checked, with what is open of it; not who is suspected, or was found by answers that cannot be believed. Null for the period: whenever that was.
 */
export async function readKnownOfAll(
  client: Client,
  findings: readonly Finding[],
  periodMs: number | null,
): Promise<KnownOfAll> {
  type Row = Omit<KnownOfAll, 'tally'> & {
    readonly looked: number
    readonly rejected: number
    readonly held: number
    readonly discarded: number
  }
  const { rows } = await client.query<Row>(KNOWN, [periodMs])
  const [row] = rows
  if (!row) throw new Error('a count is one row')
  const { looked, rejected, held, discarded, ...known } = row
  // A finding is older than its look where a sync has looked since, and may be of somebody who is held by now.
  const checked = Math.max(looked, findings.length)
  const skipped = { rejected, held, discarded }
  const some = Object.entries(skipped).filter(([, count]) => count > 0)
  const heldAccess = await readHeldAccess(client)
  const tally: Tally = {
    ...plus(tallyOf(findings), { ...EMPTY_TALLY, access: heldAccess, heldAccess }),
    ...{ checked, agrees: checked - findings.length },
    skipped: Object.fromEntries(some),
  }
  return { ...known, tally }
}
