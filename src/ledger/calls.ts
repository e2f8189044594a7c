import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { retried } from '../database/batch.ts'
import type { Client } from '../database/client.ts'
import { iso } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'

/** One call to the service and what became of it: names of fields and types, never a value. */
export type CallEntry = {
  readonly key: CustomerKey
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number
  readonly plan: string
  readonly method: string
  /** Null when there was no answer; then `error` says why. */
  readonly status: number | null
  readonly error: string | null
  readonly meaning: string
  readonly ms: number
  /** The fields that the request carried besides the `user_id`. */
  readonly fields: readonly string[]
  /** Kind of the answer's body, and its shape where it is JSON. */
  readonly body: string | null
  readonly shape: string | null
}

/** More distinct answers than this are of no use: a service that puts its values into keys makes them. */
const MOST_ANSWERS = 1000
/** In place of the shape, where the answers of one kind beyond those are counted together. */
export const OTHERS = '(others)'

/** Names an answer: everything about it that is no value, and what it was taken for. */
function answerFingerprint({ method, status, error, body, shape, meaning }: CallEntry): string {
  return hash([method, status ?? error, body, shape, meaning])
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16)
}

/**
 * Calls and answers in one statement. Answers are taken in the order of their fingerprints, so that processes do not
 * deadlock. Two that write at the same moment may pass the limit by what each of them brings.
 */
const WRITE = `
WITH given AS MATERIALIZED (
  SELECT e.*, to_timestamp(e."atMs" / 1000) AS at FROM jsonb_to_recordset($1::jsonb) AS e (key text, "atMs" float8, plan text,
    method text, status smallint, error text, meaning text, ms integer, fields text[], body text, shape text,
    fingerprint text, others text)),
e AS MATERIALIZED (
  SELECT * FROM given WHERE NOT $3 OR NOT EXISTS (
    SELECT FROM rollcall.call c WHERE c.key = given.key AND c.at = given.at AND c.by = $2 AND c.method = given.method)),
strange AS MATERIALIZED (
  SELECT fingerprint, row_number() OVER (ORDER BY fingerprint) AS nth FROM (
    SELECT fingerprint FROM e EXCEPT SELECT fingerprint FROM rollcall.answer) s),
placed AS MATERIALIZED (
  SELECT e.*, coalesce(s.nth > r.n, false) AS beyond,
    CASE WHEN s.nth > r.n THEN e.others ELSE e.fingerprint END AS answer
  FROM e LEFT JOIN strange s USING (fingerprint),
    (SELECT $4 - count(*) AS n FROM rollcall.answer WHERE shape IS DISTINCT FROM '${OTHERS}') r),
counted AS (
  INSERT INTO rollcall.answer AS a (fingerprint, method, status, error, body, shape, meaning, count, first_at, last_at, last_key)
  SELECT answer, method, CASE WHEN NOT beyond THEN status END, CASE WHEN NOT beyond THEN error END,
    CASE WHEN NOT beyond THEN body END, CASE WHEN beyond THEN '${OTHERS}' ELSE shape END, meaning,
    count(*), min(at), max(at), (array_agg(key ORDER BY at DESC))[1]
  FROM placed GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY answer COLLATE "C"
  ON CONFLICT (fingerprint) DO UPDATE SET
    count = a.count + excluded.count,
    first_at = least(a.first_at, excluded.first_at),
    last_at = greatest(a.last_at, excluded.last_at),
    last_key = CASE WHEN excluded.last_at >= a.last_at THEN excluded.last_key ELSE a.last_key END)
INSERT INTO rollcall.call (key, at, by, plan, method, status, error, meaning, ms, fields, answer)
SELECT key, at, $2, plan, method, status, error, meaning, ms, fields, answer FROM placed ORDER BY at`

type Writing = {
  readonly by: string
  /** Whether an earlier try may have been carried out after all: then what stands there already is left out. */
  readonly again: boolean
  readonly mostAnswers?: number
}

export async function writeCalls(
  pool: Pool,
  entries: readonly CallEntry[],
  { by, again, mostAnswers = MOST_ANSWERS }: Writing,
): Promise<void> {
  const rows = entries.map((entry) => ({
    ...entry,
    ms: Math.round(entry.ms),
    fingerprint: answerFingerprint(entry),
    others: hash([entry.method, OTHERS, entry.meaning]),
  }))
  await retried(() => pool.query(WRITE, [JSON.stringify(rows), by, again, mostAnswers]))
}

const PRUNE = `
DELETE FROM rollcall.call WHERE id IN (
  SELECT id FROM rollcall.call WHERE at < now() - $1 * interval '1 day' LIMIT $2 FOR UPDATE SKIP LOCKED)`
const PRUNE_ROWS = 5000

/** Deletes calls that are older, at most `limit` of them, a few thousand in a statement; resolves to how many. */
export async function pruneCalls(pool: Pool, keepDays: number, limit: number): Promise<number> {
  let pruned = 0
  while (pruned < limit) {
    const { rowCount } = await pool.query(PRUNE, [keepDays, Math.min(PRUNE_ROWS, limit - pruned)])
    pruned += rowCount ?? 0
    if ((rowCount ?? 0) < PRUNE_ROWS) return pruned
  }
  return pruned
}

/** Fields of writes of unknown outcome that no GET has confirmed since: such a request may still arrive. */
const UNCERTAIN = `
SELECT c.key, to_jsonb(array_agg(DISTINCT f.field)) AS fields
FROM rollcall.call c LEFT JOIN rollcall.ledger l ON l.key = c.key, unnest(c.fields) AS f (field)
WHERE c.key = ANY($1) AND c.method <> 'GET' AND c.meaning IN ('unknown', 'unclear')
  AND (l.verified_at IS NULL OR c.at > l.verified_at)
GROUP BY c.key`

export async function readUncertain(
  client: Client,
  keys: readonly CustomerKey[],
): Promise<ReadonlyMap<CustomerKey, readonly string[]>> {
  if (keys.length === 0) return new Map()
  const { rows } = await client.query<{ key: CustomerKey; fields: string[] }>(UNCERTAIN, [keys])
  return new Map(rows.map(({ key, fields }) => [key, fields]))
}

/** One distinct answer; times as ISO text in UTC. `status` and `error` are null where answers are counted together. */
export type DistinctAnswer = Pick<CallEntry, 'method' | 'status' | 'error' | 'body' | 'shape' | 'meaning'> & {
  /** As the log of calls has it. */
  readonly fingerprint: string
  readonly count: number
  readonly firstAt: string
  readonly lastAt: string
  /** The customer who was answered so last. */
  readonly lastKey: CustomerKey
}

/** By method and status, as a contract is read; in each the most frequent first. */
const ANSWERS = `
SELECT fingerprint, method, status, error, body, shape, meaning, count::float8 AS count,
  ${iso('first_at')} AS "firstAt", ${iso('last_at')} AS "lastAt", last_key AS "lastKey"
FROM rollcall.answer a
ORDER BY array_position('{POST,GET,PUT,PATCH}', method), method, status, error, a.count DESC, fingerprint`

export async function readAnswers(client: Client): Promise<readonly DistinctAnswer[]> {
  return (await client.query<DistinctAnswer>(ANSWERS)).rows
}

/** Locked in the order in which the writers take them. */
const FORGET = `
DELETE FROM rollcall.answer WHERE fingerprint IN (
  SELECT fingerprint FROM rollcall.answer ORDER BY fingerprint COLLATE "C" FOR UPDATE)`

/** Empties the table; resolves to how many there were. The log of calls stays. */
export async function forgetAnswers(client: Client): Promise<number> {
  return (await client.query(FORGET)).rowCount ?? 0
}
