// Customers who are rejected, who fail or whose fields are left out: by reason and one by one.
import { type Client, oneRow } from '../database/client.ts'
import { iso, wholeMs } from '../database/sql.ts'
import type { CustomerKey, FieldIssue } from '../model/customer.ts'
import { ATTEMPTED } from './note.ts'
import type { Reason } from './reason.ts'
import type { CustomerState } from './record.ts'

/** Which customers: those with a reason (`detail`: its HTTP status or error), those with an issue of a field, or all. */
export type Selector =
  | { readonly kind: 'reason'; readonly code: string; readonly detail: string | null }
  | { readonly kind: 'issue'; readonly field: string; readonly code: string | null }
  | { readonly kind: 'all' }

const STOPPED = `l.state IN ('rejected', 'failing')`
const LEFT_OUT = `l.issues <> '[]'`
/** A reason without a code is none of ours; it must not make the group nameless. */
export const CODE = `coalesce(l.reason->>'code', 'unsaid')`

/** The value that all rows of a reason's group have in common; null where they differ. */
const common = (name: string) => `
  CASE WHEN min((l.reason->'${name}')::text COLLATE "C") = max((l.reason->'${name}')::text COLLATE "C")
    AND count(l.reason->'${name}') = count(*) THEN min((l.reason->'${name}')::text)::jsonb END AS ${name}`
export const COMMON = ['fields', 'named', 'keys', 'misfits'].map(common).join()

/** The condition of a selector, over `l`, with `$1` and `$2` as its two values. */
export const SELECTED: Readonly<Record<Selector['kind'], string>> = {
  reason: `${STOPPED} AND ${CODE} = $1::text AND ($2::text IS NULL OR $2 IN (l.reason->>'status', l.reason->>'error'))`,
  issue: `l.issues @> jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('field', $1::text, 'code', $2::text)))`,
  all: `(${STOPPED} OR ${LEFT_OUT}) AND coalesce($1::text, $2::text) IS NULL`,
}

export function valuesOf(selector: Selector): [string | null, string | null] {
  switch (selector.kind) {
    case 'reason':
      return [selector.code, selector.detail]
    case 'issue':
      return [selector.field, selector.code]
    case 'all':
      return [null, null]
    default:
      return selector satisfies never
  }
}

/** Ages and waits in milliseconds by the database's clock; `since` as ISO text in UTC, null for a field that is left out. */
export type Waiting = {
  readonly since: string | null
  readonly sinceMs: number | null
  /** Negative: due since then. Null: no attempt is owed, or one is under way. */
  readonly nextInMs: number | null
  /** On the queue, or being synced at this moment. */
  readonly underWay: boolean
}

/** Customers with one reason; the oldest `since`, the earliest attempt. Names are there where all agree on them. */
export type ReasonGroup = Waiting & {
  readonly state: CustomerState
  readonly code: string
  readonly status: number | null
  readonly error: string | null
  readonly customers: number
  readonly example: CustomerKey
  readonly fields: readonly string[] | null
  readonly named: readonly string[] | null
  readonly keys: readonly CustomerKey[] | null
  readonly misfits: readonly string[] | null
}

/** Customers with one issue of a field. `blocks`: they are rejected for it, alone or with others; else the field alone is left out. */
export type IssueGroup = Waiting &
  Pick<FieldIssue, 'code' | 'expected'> & {
    readonly field: string
    readonly blocks: boolean
    readonly customers: number
    readonly example: CustomerKey
  }

export type Failures = {
  /** The service that all of this is about. */
  readonly origin: string | null
  /** Each customer once: who is rejected or failing does not count as left out too. */
  readonly customers: { readonly rejected: number; readonly failing: number; readonly leftOut: number }
  readonly reasons: readonly ReasonGroup[]
  readonly issues: readonly IssueGroup[]
}

export type Failing = Waiting & {
  readonly key: CustomerKey
  readonly state: CustomerState
  readonly reason: Reason | null
  readonly issues: readonly FieldIssue[]
  readonly attempts: number
}

const since = (time: string) =>
  `${iso(time)} AS since, ${wholeMs(`clock_timestamp() - ${time}`)} AS "sinceMs"`

const waiting = (time: string) => `
  ${since(time)},
  ${wholeMs(`min(o.due_at) FILTER (WHERE NOT ${ATTEMPTED}) - clock_timestamp()`)} AS "nextInMs",
  coalesce(bool_or(${ATTEMPTED}), false) AS "underWay"`

const REASONS = `
SELECT l.state, ${CODE} AS code, (l.reason->>'status')::int AS status, l.reason->>'error' AS error,
  count(*)::int AS customers, min(l.key) AS example,
  ${COMMON}, ${waiting('min(l.since)')}
FROM rollcall.ledger l LEFT JOIN rollcall.owed o USING (key)
WHERE ${STOPPED}
GROUP BY 1, 2, 3, 4
ORDER BY l.state = 'rejected' DESC, customers DESC, min(l.since), 2, 3`

/** Without these there is no user; with them in order, another field rejects only where the configuration is strict. */
export const REQUIRED: readonly string[] = ['user_id', 'status', 'scope']
const FIRST = REQUIRED.map((field) => `@.field == "${field}"`).join(' || ')
const BLOCKS = `l.state = 'rejected' AND ${CODE} = 'mapping'
  AND (NOT l.issues @? '$[*] ? (${FIRST})' OR jsonb_build_array(i) @? '$[*] ? (${FIRST})')`

const ISSUES = `
SELECT i->>'field' AS field, i->>'code' AS code, i->>'expected' AS expected,
  ${BLOCKS} AS blocks, count(*)::int AS customers, min(l.key) AS example, ${waiting(`min(l.since) FILTER (WHERE l.state = 'rejected')`)}
FROM rollcall.ledger l LEFT JOIN rollcall.owed o USING (key), jsonb_array_elements(l.issues) i
WHERE ${LEFT_OUT} AND (l.state <> 'rejected' OR ${BLOCKS})
GROUP BY 1, 2, 3, 4
ORDER BY blocks DESC, customers DESC, 1, 2`

const TOTALS = `
SELECT (SELECT origin FROM rollcall.target) AS origin, jsonb_build_object(
  'rejected', count(*) FILTER (WHERE l.state = 'rejected'),
  'failing', count(*) FILTER (WHERE l.state = 'failing'),
  'leftOut', count(*) FILTER (WHERE NOT ${STOPPED})) AS customers
FROM rollcall.ledger l WHERE ${STOPPED} OR ${LEFT_OUT}`

/** By reason: rejected before failing (which may get right by itself), then by how many. */
export async function readFailures(client: Client): Promise<Failures> {
  const totals = await oneRow<Pick<Failures, 'origin' | 'customers'>>(client, TOTALS)
  const { rows: reasons } = await client.query<ReasonGroup>(REASONS)
  const { rows: issues } = await client.query<IssueGroup>(ISSUES)
  return { ...totals, reasons, issues }
}

/** The customers that have waited longest, and how many there are in all. */
export async function listFailing(
  client: Client,
  selector: Selector,
  limit: number,
): Promise<{ readonly customers: readonly Failing[]; readonly total: number }> {
  const { rows } = await client.query<Failing & { total: number }>(
    `SELECT l.key, l.state, l.reason, l.issues, coalesce(o.attempts, 0) AS attempts,
       ${since(`CASE WHEN l.state <> 'idle' THEN l.since END`)},
       CASE WHEN NOT ${ATTEMPTED} THEN ${wholeMs('o.due_at - clock_timestamp()')} END AS "nextInMs",
       ${ATTEMPTED} AS "underWay", (count(*) OVER ())::int AS total
     FROM rollcall.ledger l LEFT JOIN rollcall.owed o USING (key)
     WHERE ${SELECTED[selector.kind]} ORDER BY l.since, l.key LIMIT $3`,
    [...valuesOf(selector), limit],
  )
  const customers = rows.map(({ total: _total, ...failing }) => failing)
  return { customers, total: rows[0]?.total ?? 0 }
}
