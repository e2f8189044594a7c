// Reserves before a call; `taken` of a kind is always the number of its entries that are not forgotten.
import type { ClientBase, Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { makeBatch } from '../database/batch.ts'
import { oneRow } from '../database/client.ts'
import { inTransaction } from '../database/transaction.ts'
import type { CustomerKey } from '../model/customer.ts'
import {
  type Bases,
  type Brake,
  type BrakeKind,
  type BrakeRequest,
  baseIsOld,
  baseOf,
  type HeldKind,
  limitOf,
  ruleOf,
} from './brake.ts'
import { type Decision, decide, isNew, type KindCounts } from './decide.ts'

/** How long to wait for the others who reserve; each does so for a moment only. */
const LOCK_TIMEOUT_MS = 2000

/**
 * Reserves before a call: who is let through is counted, in a transaction that locks the rows of the kinds. Many
 * workers would otherwise all read "one below the limit".
 *
 * Rejects where the lock cannot be had in two seconds, or Postgres is away: nothing is counted then.
 */
export function makeBrake(pool: Pool, rules: Config['brake']): Brake {
  const reserve = makeBatch<BrakeRequest, readonly HeldKind[]>((requests) =>
    reserveAll(pool, rules, requests),
  )
  return async (request) => (request.kinds.length === 0 ? [] : await reserve(request))
}

async function reserveAll(pool: Pool, rules: Config['brake'], requests: readonly BrakeRequest[]) {
  const kinds = [...new Set(requests.flatMap((request) => request.kinds))].sort()
  /** Counted just now, because an earlier attempt missed them. */
  let bases: Bases | null = null
  for (;;) {
    const counted: Bases | null = bases
    const tried = await inTransaction(pool, LOCK_TIMEOUT_MS, (client) => attempt(client, counted))
    if (typeof tried === 'object') return tried.answers
    if (tried === 'no-rows') await makeRows(pool, kinds)
    else bases = await countBases(pool)
  }

  /** The lock comes first and what is read second, in a snapshot of its own. */
  async function attempt(
    client: ClientBase,
    bases: Bases | null,
  ): Promise<Decision | 'no-rows' | 'no-bases'> {
    if (!(await lockRows(client, kinds))) return 'no-rows'
    const found = await readUsage(client, { windowHours: rules.windowHours, requests, kinds })
    const states = found.kinds.map(({ base, ...row }) => {
      const known = bases ? baseOf(row.kind, bases) : base
      return { ...row, limit: limitOf(ruleOf(row.kind, rules), known) }
    })
    const old = found.kinds.some((row) => {
      const fresh = found.requests.filter((each) => each.kinds.includes(row.kind) && isNew(row.kind, each))
      return baseIsOld(row, fresh.length, rules)
    })
    const decision = decide({ kinds: states, requests: found.requests, truncated: found.truncated })
    // No customer waits for a person because of a count that is some seconds old.
    const trips = decision.trips.some(({ kind }) => ruleOf(kind, rules).share > 0)
    if (!bases && (old || trips)) return 'no-bases'
    await store(client, decision, kinds, bases)
    return decision
  }
}

const LOCK = 'SELECT kind FROM rollcall.brake WHERE kind = ANY($1) ORDER BY kind FOR UPDATE'

/** False where one of them is not there yet. */
async function lockRows(client: ClientBase, kinds: readonly BrakeKind[]): Promise<boolean> {
  const { rowCount } = await client.query(LOCK, [kinds])
  return rowCount === kinds.length
}

const MAKE = `
INSERT INTO rollcall.brake (kind) SELECT k.kind FROM unnest($1::text[]) AS k (kind) ORDER BY 1 ON CONFLICT DO NOTHING`

async function makeRows(pool: Pool, kinds: readonly BrakeKind[]): Promise<void> {
  await pool.query(MAKE, [kinds])
}

/** It reads the whole ledger: never while the brake's rows are locked. */
const COUNT = `
SELECT count(*)::float8 AS present,
  count(*) FILTER (WHERE coalesce(seen_status, sent_status) IN (2, 4))::float8 AS entitled
FROM rollcall.ledger WHERE remote = 'present'`

export async function countBases(pool: Pool): Promise<Bases> {
  return await oneRow<Bases>(pool, COUNT)
}

/** Entries that have left the window go, as many as there can be of a limit, or they would count. */
const PRUNED = 100_000

/** Entries that have left the window go, first those of the asking customers: they may be entered anew. */
const USAGE = `
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS now, clock_timestamp() - $4 * interval '1 hour' AS since),
asked AS MATERIALIZED (SELECT DISTINCT a.kind, a.key FROM unnest($2::text[], $3::text[]) AS a (kind, key)),
-- By their key, one by one: a join with a table that was never analyzed reads the whole of it.
mine AS MATERIALIZED (
  SELECT e.* FROM asked a, LATERAL (SELECT * FROM rollcall.brake_entry WHERE kind = a.kind AND key = a.key OFFSET 0) e),
old AS MATERIALIZED (
  SELECT e.kind, e.key FROM mine e, t WHERE e.at <= t.since
  UNION
  (SELECT e.kind, e.key FROM rollcall.brake_entry e, t WHERE e.kind = ANY($1) AND e.at <= t.since LIMIT ${PRUNED})),
gone AS (
  DELETE FROM rollcall.brake_entry e USING old WHERE e.kind = old.kind AND e.key = old.key RETURNING e.kind, e.forgotten),
fewer AS MATERIALIZED (SELECT kind, count(*)::int AS n FROM gone WHERE NOT forgotten GROUP BY kind),
kept AS (UPDATE rollcall.brake b SET taken = b.taken - fewer.n FROM fewer WHERE b.kind = fewer.kind)
SELECT
  (SELECT jsonb_agg(jsonb_build_object('kind', b.kind, 'taken', b.taken - coalesce(fewer.n, 0), 'base', b.base,
     'baseAgeMs', extract(epoch FROM t.now - b.based_at) * 1000, 'tripped', b.tripped_at IS NOT NULL,
     'expected', CASE WHEN b.expected_until > t.now THEN b.expected ELSE 0 END))
   FROM rollcall.brake b LEFT JOIN fewer USING (kind), t WHERE b.kind = ANY($1)) AS kinds,
  -- Where everything was settled since it was let through, this is another change.
  (SELECT coalesce(jsonb_agg(jsonb_build_array(e.kind, e.key,
     coalesce(l.settled_at <= e.at, true))), '[]')
   FROM mine e LEFT JOIN rollcall.ledger l ON l.key = e.key, t
   WHERE e.at > t.since AND (NOT e.forgotten OR e.expected)) AS counted,
  -- Whose access was taken within the window, or may have been by a release that is not spent.
  (SELECT coalesce(jsonb_agg(asked.key), '[]') FROM asked, t WHERE asked.kind = 'status' AND (
     EXISTS (SELECT FROM rollcall.brake_entry e WHERE e.kind = 'revocation' AND e.key = asked.key AND e.at > t.since)
     OR EXISTS (SELECT FROM rollcall.decided d JOIN rollcall.decision c ON c.id = d.decision
       WHERE d.key = asked.key AND coalesce(d.spent_at > t.since, true) AND c.action = 'release'
         AND d.kinds ?| ARRAY['revocation', 'truncated']))) AS taken,
  (SELECT coalesce(jsonb_agg(jsonb_build_array(d.key, d.desired, d.kinds)), '[]')
   FROM rollcall.decided d WHERE d.key = ANY($3) AND d.spent_at IS NULL) AS released,
  EXISTS (SELECT FROM rollcall.capture_mark WHERE kind = 'truncate' AND resolved_at IS NULL) AS truncated`

type Usage = {
  readonly kinds: readonly (KindCounts & {
    readonly base: number | null
    readonly baseAgeMs: number | null
  })[]
  readonly counted: readonly (readonly [BrakeKind, CustomerKey, repeated: boolean])[]
  readonly taken: readonly CustomerKey[]
  readonly released: readonly (readonly [CustomerKey, string | null, readonly HeldKind[]])[]
  readonly truncated: boolean
}

type Asking = {
  readonly kinds: readonly BrakeKind[]
  readonly requests: readonly BrakeRequest[]
  readonly windowHours: number
}

/** In a snapshot of its own, after the lock. */
async function readUsage(client: ClientBase, { kinds, requests, windowHours }: Asking) {
  const pairs = requests.flatMap(({ key, kinds: each }) => each.map((kind) => ({ kind, key })))
  const [askedKinds, askedKeys] = [pairs.map(({ kind }) => kind), pairs.map(({ key }) => key)]
  const found = await oneRow<Usage>(client, USAGE, [kinds, askedKinds, askedKeys, windowHours])
  const counted = Map.groupBy(found.counted, ([, key]) => key)
  const released = Map.groupBy(found.released, ([key]) => key)
  const taken = new Set(found.taken)
  const weighed = requests.map((request) => ({
    ...request,
    counted: (counted.get(request.key) ?? []).map(([kind]) => kind),
    repeated: (counted.get(request.key) ?? []).flatMap(([kind, , repeated]) => (repeated ? kind : [])),
    returning: request.hasAccess !== true && taken.has(request.key),
    released: (released.get(request.key) ?? []).flatMap(([, digest, kinds]) =>
      digest === request.desiredDigest ? kinds : [],
    ),
  }))
  return { kinds: found.kinds, truncated: found.truncated, requests: weighed }
}

const STORE = `
WITH s AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS s (kind text, more integer, expected integer, base bigint, tripped integer)),
kept AS (
  UPDATE rollcall.brake b SET
    taken = b.taken + s.more,
    expected = greatest(0, b.expected - s.expected),
    base = coalesce(s.base, b.base),
    based_at = CASE WHEN s.base IS NULL THEN b.based_at ELSE clock_timestamp() END,
    tripped_at = CASE WHEN s.tripped IS NULL THEN b.tripped_at ELSE clock_timestamp() END,
    tripped_at_limit = coalesce(s.tripped, b.tripped_at_limit)
  FROM s WHERE b.kind = s.kind),
again AS (
  UPDATE rollcall.brake_entry e SET at = clock_timestamp()
  FROM unnest($4::text[], $5::text[]) AS a (kind, key) WHERE e.kind = a.kind AND e.key = a.key
    AND (NOT e.forgotten OR e.expected))
INSERT INTO rollcall.brake_entry (kind, key, forgotten, expected)
SELECT e.kind, e.key, e.expected, e.expected FROM unnest($2::text[], $3::text[], $6::boolean[]) AS e (kind, key, expected)
ON CONFLICT (kind, key) DO UPDATE SET at = clock_timestamp(), forgotten = excluded.forgotten, expected = excluded.expected`

async function store(
  client: ClientBase,
  { entries, again, trips }: Decision,
  kinds: readonly BrakeKind[],
  bases: Bases | null,
): Promise<void> {
  if (entries.length === 0 && again.length === 0 && trips.length === 0 && !bases) return
  const rows = kinds.map((kind) => ({
    kind,
    more: entries.filter((entry) => entry.kind === kind && !entry.expected).length,
    expected: entries.filter((entry) => entry.kind === kind && entry.expected).length,
    base: bases ? baseOf(kind, bases) : null,
    tripped: trips.find((trip) => trip.kind === kind)?.limit ?? null,
  }))
  await client.query(STORE, [
    JSON.stringify(rows),
    entries.map(({ kind }) => kind),
    entries.map(({ key }) => key),
    again.map(({ kind }) => kind),
    again.map(({ key }) => key),
    entries.map(({ expected = false }) => expected),
  ])
}
