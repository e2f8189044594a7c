// The statements about findings and about the share of drift.
import type { ClientBase } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import { ownerAfter } from './believed.ts'
import type { Open, Told } from './findings.ts'
import type { Resolved } from './words.ts'

type Client = Pick<ClientBase, 'query'>

/** Of a finding (`f`) and the customer's record (`l`). */
const OF_TURN = `coalesce(l.taken_in IS NOT NULL AND l.counted_in IS DISTINCT FROM l.taken_in
  OR f.looks < 2 AND l.counted_as IS NOT NULL, false)`

const OPEN = `
SELECT f.key, f.id::text, f.kind, to_jsonb(f.fields) AS fields, to_jsonb(f.pending) AS pending, f.cause, f.access, f.looks, f.forms, f.repairs, f.desired,
  (extract(epoch FROM f.next_look_at - now()) * 1000)::float8 AS "nextInMs",
  f.released, ${OF_TURN} AS "ofTurn",
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
  readonly repaired: boolean
}
/** `looked`: a look has shown the end. Where none was made nobody has to believe it. */
export type Resolution = { readonly id: string; readonly how: Resolved; readonly looked: boolean }

const SECONDS = `now() + e."nextInMs" * interval '1 ms'`

const INSERT = `
INSERT INTO rollcall.finding (key, user_id, kind, fields, pending, cause, access, forms, desired, next_look_at, run_id)
SELECT e.key, e."userId", e.kind, e.fields, e.pending, e.cause, e.access, e.forms, e.desired, ${SECONDS}, $2::bigint
FROM jsonb_to_recordset($1::jsonb) AS e (key text, "userId" text, kind text, fields text[], pending text[], cause text,
  access text, forms jsonb, desired text, "nextInMs" float8)
ORDER BY e.key COLLATE "C"
RETURNING id::text, key`

const CHANGE = `
UPDATE rollcall.finding f SET user_id = e."userId", kind = e.kind, fields = e.fields, pending = e.pending,
  cause = e.cause, access = e.access, forms = e.forms, desired = e.desired, looks = e.looks, last_seen = now(),
  first_seen = CASE WHEN e.anew THEN now() ELSE f.first_seen END, released = f.released AND NOT e.anew,
  repairs = f.repairs + CASE WHEN e.repaired THEN 1 ELSE 0 END,
  repaired_at = CASE WHEN e.repaired THEN now() ELSE f.repaired_at END,
  next_look_at = ${SECONDS}, run_id = ${ownerAfter('$2')}
FROM jsonb_to_recordset($1::jsonb) AS e (id bigint, "userId" text, kind text, fields text[], pending text[], cause text,
  access text, forms jsonb, desired text, looks integer, anew boolean, repaired boolean, "nextInMs" float8)
WHERE f.id = e.id`

const RESOLVE = `
UPDATE rollcall.finding f SET resolved_at = now(), resolved_how = e.how, resolved_in = CASE WHEN e.looked THEN $2::bigint END, next_look_at = NULL, pending = '{}',
  cause = CASE e.how WHEN 'normalised' THEN 'normalised' ELSE f.cause END
FROM jsonb_to_recordset($1::jsonb) AS e (id bigint, how text, looked boolean) WHERE f.id = e.id`

/** Of those whom no round takes also where no look was due: else they would come up again at once. */
const POSTPONE = `UPDATE rollcall.finding f SET next_look_at = now() + $2 * interval '1 ms'
WHERE f.id = ANY($1::bigint[]) AND (f.next_look_at IS NOT NULL
  OR EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = f.key AND l.state IN ('rejected', 'discarded')))`

export type Writes = {
  readonly forget: readonly string[]
  readonly postpone: readonly string[]
  readonly postponeMs: number
  readonly resolve: readonly Resolution[]
  readonly change: readonly Change[]
  readonly insert: readonly Insertion[]
  /** The run or round that looks; null: none that is judged. */
  readonly by: string | null
}

/** What was resolved goes first: of the same customer something else may be suspected now. */
export async function writeFindings(
  client: Client,
  { forget, postpone, postponeMs, resolve, change, insert, by }: Writes,
): Promise<ReadonlyMap<CustomerKey, string>> {
  if (forget.length > 0)
    await client.query('DELETE FROM rollcall.finding WHERE id = ANY($1::bigint[])', [forget])
  if (postpone.length > 0) await client.query(POSTPONE, [postpone, postponeMs])
  if (resolve.length > 0) await client.query(RESOLVE, [JSON.stringify(resolve), by])
  if (change.length > 0) await client.query(CHANGE, [JSON.stringify(change), by])
  if (insert.length === 0) return new Map()
  const { rows } = await client.query<{ id: string; key: CustomerKey }>(INSERT, [JSON.stringify(insert), by])
  return new Map(rows.map(({ id, key }) => [key, id]))
}
