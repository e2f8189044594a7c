// Held customers, by kind and one by one, and what was decided; held.ts makes the decisions.
import { type Client, keysBy, oneRow } from '../database/client.ts'
import { iso, wholeMs } from '../database/sql.ts'
import { IS_DISCARDED, OPEN_RELEASE } from '../ledger/decided.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type HeldKind, isHeldKind, TAKES_ACCESS } from './brake.ts'

/** Ages in milliseconds by the database's clock, times as ISO text in UTC. */
export type KindHeld = {
  readonly kind: HeldKind
  readonly held: number
  /** Released, and on their way. */
  readonly released: number
  /** Left as they are by a person, until they change. */
  readonly discarded: number
  /** Since when the first of them waits. */
  readonly sinceMs: number | null
  /** Null: the kind lets changes through. */
  readonly trippedAt: string | null
  readonly trippedMs: number | null
  /** The limit at which it tripped; else null, because it follows the number of customers. */
  readonly limit: number | null
  readonly taken: number
  /** The number of which the limit is a share, as last counted; null: it never mattered. */
  readonly base: number | null
  /** How many more are expected, and pass without being counted; until when, null where there are none. */
  readonly expected: number
  readonly expectedUntil: string | null
}

const EXPECTED = 'b.expected > 0 AND b.expected_until > clock_timestamp()'

/** The kinds and fields that a person was, or is, asked about. */
const ASKED = `(CASE WHEN l.state = 'held' THEN l.reason ELSE l.discard END)`

const BY_KIND = `
WITH open AS (
  SELECT DISTINCT d.key, d.desired, k.kind FROM rollcall.decided d, jsonb_array_elements_text(d.kinds) AS k (kind)
  WHERE d.spent_at IS NULL),
each_kind AS (
  SELECT l.key, l.desired, l.state, l.since, k.kind
  FROM rollcall.ledger l, LATERAL jsonb_array_elements_text(coalesce(${ASKED}->'kinds', '[]')) AS k (kind)
  WHERE l.state <> 'idle' AND (l.state = 'held' OR ${IS_DISCARDED})),
stopped AS (
  SELECT e.kind, e.state, e.since, e.state = 'held' AND open.key IS NOT NULL AS released
  FROM each_kind e LEFT JOIN open USING (key, desired, kind)),
counted AS (
  SELECT kind, (count(*) FILTER (WHERE state = 'held' AND NOT released))::int AS held,
    (count(*) FILTER (WHERE released))::int AS released, (count(*) FILTER (WHERE state <> 'held'))::int AS discarded,
    min(since) FILTER (WHERE state = 'held' AND NOT released) AS since
  FROM stopped GROUP BY kind)
SELECT kind, coalesce(c.held, 0) AS held, coalesce(c.released, 0) AS released, coalesce(c.discarded, 0) AS discarded,
  ${wholeMs('clock_timestamp() - c.since')} AS "sinceMs", ${iso('b.tripped_at')} AS "trippedAt",
  ${wholeMs('clock_timestamp() - b.tripped_at')} AS "trippedMs", b.tripped_at_limit AS "limit",
  coalesce(b.taken, 0) AS taken, b.base::float8 AS base,
  CASE WHEN ${EXPECTED} THEN b.expected ELSE 0 END AS expected,
  CASE WHEN ${EXPECTED} THEN ${iso('b.expected_until')} END AS "expectedUntil"
FROM counted c FULL JOIN rollcall.brake b USING (kind)
ORDER BY c.held DESC NULLS LAST, kind`

/** Every kind that ever counted a customer, for `status`, metrics and alarms: those that hold customers come first. */
export async function readBrake(client: Client): Promise<readonly KindHeld[]> {
  const { rows } = await client.query<KindHeld>(BY_KIND)
  return rows.filter(({ kind }) => isHeldKind(kind))
}

export function brakeNeedsPerson({ held, trippedAt }: KindHeld): boolean {
  return held > 0 || trippedAt !== null
}

export type HeldCustomer = {
  readonly key: CustomerKey
  readonly userId: string | null
  readonly state: 'held' | 'discarded'
  readonly kinds: readonly HeldKind[]
  readonly since: string | null
  readonly sinceMs: number | null
  readonly released: boolean
  /** The effect of a release, as far as the ledger tells: it holds no value, and only a digest of the desired user. */
  readonly what: {
    /** As last seen, or else as last acknowledged. */
    readonly statusFrom: number | null
    /** Null: not known, or as it is. */
    readonly statusTo: number | null
    readonly fields: readonly string[]
  }
}

/** With a kind or keys, those who were discarded are listed too. */
type Listing = { kind?: HeldKind; keys?: readonly CustomerKey[]; limit: number }

const WHERE = `l.state <> 'idle' AND (l.state = 'held' OR (coalesce($1::text, $2::text[]::text) IS NOT NULL AND ${IS_DISCARDED}))
  AND ($1::text IS NULL OR ${ASKED}->'kinds' ? $1) AND ($2::text[] IS NULL OR l.key = ANY($2))`

/** Not known where the customer is failing or rejected since. */
const SINCE = `(CASE WHEN l.state IN ('held', 'discarded') THEN l.since END)`

const LIST = `
SELECT l.key, l.user_id AS "userId", CASE WHEN l.state = 'held' THEN l.state ELSE 'discarded' END AS state,
  coalesce(${ASKED}->'kinds', '[]') AS kinds, coalesce(${ASKED}->'fields', '[]') AS fields, coalesce(l.seen_status, l.sent_status) AS "statusFrom",
  ${iso(SINCE)} AS since, ${wholeMs(`clock_timestamp() - ${SINCE}`)} AS "sinceMs",
  l.state = 'held' AND ${OPEN_RELEASE} AS released
FROM rollcall.ledger l WHERE ${WHERE} ORDER BY l.state = 'held' DESC, l.key LIMIT $3`

/** Apart from the list, which must not ask about the releases of all of them. */
const TOTAL = `SELECT count(*)::int AS total FROM rollcall.ledger l WHERE ${WHERE}`

type Listed = Omit<HeldCustomer, 'what'> & Omit<HeldCustomer['what'], 'statusTo'>

/** Held ones first, in the order of their keys; `total`: how many there are without the limit. */
export async function listHeld(client: Client, { kind, keys, limit }: Listing) {
  const which = [kind ?? null, keys ?? null]
  const { rows } = await client.query<Listed>(LIST, [...which, limit])
  const { total } = await oneRow<{ total: number }>(client, TOTAL, which)
  return { customers: rows.map(withWhat), total }
}

function withWhat({ fields, statusFrom, ...customer }: Listed): HeldCustomer {
  const cleared = customer.kinds.flatMap((kind) =>
    kind.startsWith('clear:') ? kind.slice('clear:'.length) : [],
  )
  const statusTo = customer.kinds.some((kind) => TAKES_ACCESS.includes(kind)) ? 0 : null
  return { ...customer, what: { statusFrom, statusTo, fields: [...new Set([...cleared, ...fields])] } }
}

/** The keys of customers that are held or, where asked for, discarded. */
export async function findHeld(client: Client, keys: readonly CustomerKey[], discardedToo: boolean) {
  const named = `SELECT key FROM rollcall.ledger l WHERE key = ANY($1) AND (l.state = 'held' OR ($2 AND ${IS_DISCARDED}))`
  return await keysBy(client, named, [keys, discardedToo])
}

export type LoggedDecision = {
  readonly id: string
  readonly action: 'release' | 'discard' | 'credible'
  /** Null: single customers. */
  readonly kind: string | null
  readonly customers: number
  /** At most ten of them, in a decision by key. */
  readonly keys: readonly string[]
  readonly by: string
  readonly why: string
  readonly at: string
  /** Released, and not carried out yet. */
  readonly open: number
}

export async function listDecisions(client: Client, limit: number): Promise<readonly LoggedDecision[]> {
  const { rows } = await client.query<LoggedDecision>(
    `SELECT c.id::text, c.action, c.kind, c.customers, c.by, c.why, ${iso('c.at')} AS at,
       to_json(ARRAY(SELECT d.key FROM rollcall.decided d WHERE d.decision = c.id AND c.kind IS NULL ORDER BY 1 LIMIT 10)) AS keys,
       (SELECT count(*)::int FROM rollcall.decided d WHERE d.decision = c.id AND d.spent_at IS NULL) AS open
     FROM rollcall.decision c ORDER BY c.id DESC LIMIT $1`,
    [limit],
  )
  return rows
}
