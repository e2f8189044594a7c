// The statements about findings and about the share of drift.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import type { Open, Told } from './findings.ts'
import type { Resolved } from './words.ts'

type Client = Pick<ClientBase, 'query'>

const OPEN = `
SELECT f.key, f.id::text, f.kind, to_jsonb(f.fields) AS fields, to_jsonb(f.pending) AS pending, f.cause, f.access, f.looks, f.repairs, f.desired,
  (extract(epoch FROM f.next_look_at - now()) * 1000)::float8 AS "nextInMs",
  coalesce(l.acknowledged_at > f.repaired_at, false) AS "writtenSinceRepair",
  coalesce(l.acknowledged_at > f.last_seen, false) AS "writtenSinceSeen"
FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key)
WHERE f.key = ANY($1) AND f.resolved_at IS NULL ORDER BY f.key FOR UPDATE OF f`

/** The findings that are open for these customers; locked in the order of their keys. */
export async function lockOpen(
  client: Client,
  keys: readonly CustomerKey[],
): Promise<ReadonlyMap<CustomerKey, Open>> {
  const { rows } = await client.query<Open & { key: CustomerKey }>(OPEN, [keys])
  return new Map(rows.map(({ key, ...open }) => [key, open]))
}

/** `inMs`: when it is looked at next; null: not before its turn in a round comes. */
type Next = { readonly nextInMs: number | null }

export type Insertion = Told &
  Next & { readonly key: CustomerKey; readonly userId: string | null; readonly desired: string }
export type Change = Insertion & {
  readonly id: string
  readonly looks: number
  /** What was seen is something else than was suspected before. */
  readonly anew: boolean
}
export type Resolution = { readonly id: string; readonly how: Resolved }

const SECONDS = `now() + e."nextInMs" * interval '1 ms'`

/** One that comes back after a repair goes on where that ended: the service may not take it. */
const REPAIRS = `(SELECT CASE WHEN p.resolved_how = 'repaired' AND p.kind = e.kind AND p.fields = e.fields THEN p.repairs END
  FROM rollcall.finding p WHERE p.key = e.key COLLATE "C" ORDER BY p.id DESC LIMIT 1)`

const INSERT = `
INSERT INTO rollcall.finding (key, user_id, kind, fields, pending, cause, access, desired, next_look_at, repairs)
SELECT e.key, e."userId", e.kind, e.fields, e.pending, e.cause, e.access, e.desired, ${SECONDS}, coalesce(${REPAIRS}, 0)
FROM jsonb_to_recordset($1::jsonb) AS e (key text, "userId" text, kind text, fields text[], pending text[], cause text,
  access text, desired text, "nextInMs" float8)
ORDER BY e.key COLLATE "C"
RETURNING id::text, key`

const CHANGE = `
UPDATE rollcall.finding f SET user_id = e."userId", kind = e.kind, fields = e.fields, pending = e.pending,
  cause = e.cause, access = e.access, desired = e.desired, looks = e.looks, last_seen = now(),
  first_seen = CASE WHEN e.anew THEN now() ELSE f.first_seen END,
  next_look_at = ${SECONDS}
FROM jsonb_to_recordset($1::jsonb) AS e (id bigint, "userId" text, kind text, fields text[], pending text[], cause text,
  access text, desired text, looks integer, anew boolean, "nextInMs" float8)
WHERE f.id = e.id`

const RESOLVE = `
UPDATE rollcall.finding f SET resolved_at = now(), resolved_how = e.how, next_look_at = NULL, pending = '{}',
  cause = CASE e.how WHEN 'normalised' THEN 'normalised' ELSE f.cause END
FROM jsonb_to_recordset($1::jsonb) AS e (id bigint, how text) WHERE f.id = e.id`

/** Of those whom no round takes also where no look was due: else they would come up again at once. */
const POSTPONE = `UPDATE rollcall.finding f SET next_look_at = now() + $2 * interval '1 ms'
WHERE f.id = ANY($1::bigint[]) AND (f.next_look_at IS NOT NULL
  OR EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = f.key AND l.state IN ('rejected', 'discarded')))`

const DOUBT = `UPDATE rollcall.finding SET next_look_at = now() + $2 * interval '1 ms' WHERE id = ANY($1::bigint[])`

export type Writes = {
  readonly forget: readonly string[]
  readonly postpone: readonly string[]
  readonly postponeMs: number
  readonly doubt: readonly string[]
  readonly doubtMs: number
  readonly resolve: readonly Resolution[]
  readonly change: readonly Change[]
  readonly insert: readonly Insertion[]
}

/** What was resolved goes first: of the same customer something else may be suspected now. */
export async function writeFindings(
  client: Client,
  { forget, postpone, postponeMs, doubt, doubtMs, resolve, change, insert }: Writes,
): Promise<ReadonlyMap<CustomerKey, string>> {
  if (forget.length > 0)
    await client.query('DELETE FROM rollcall.finding WHERE id = ANY($1::bigint[])', [forget])
  if (postpone.length > 0) await client.query(POSTPONE, [postpone, postponeMs])
  if (doubt.length > 0) await client.query(DOUBT, [doubt, doubtMs])
  if (resolve.length > 0) await client.query(RESOLVE, [JSON.stringify(resolve)])
  if (change.length > 0) await client.query(CHANGE, [JSON.stringify(change)])
  if (insert.length === 0) return new Map()
  const { rows } = await client.query<{ id: string; key: CustomerKey }>(INSERT, [JSON.stringify(insert)])
  return new Map(rows.map(({ id, key }) => [key, id]))
}
