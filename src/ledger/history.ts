import { type Client, keysBy, oneRow } from '../database/client.ts'
import { iso, wholeMs } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { CallEntry } from './calls.ts'
import { DISCARDED_NOW, OPEN_RELEASE } from './decided.ts'
import { ATTEMPTED } from './note.ts'
import type { KnownRecord } from './record.ts'

export type LoggedCall = Omit<CallEntry, 'key' | 'atMs' | 'body' | 'shape'> & {
  /** When it ended, by the clock of the process that made it. */
  readonly at: string
  readonly by: string
  /** Fingerprint of the answer, as `rollcall answers` shows it. */
  readonly answer: string
}

/** All that is stored of one customer; times as ISO text in UTC, null for never. */
type Known = Pick<
  KnownRecord,
  'userId' | 'remote' | 'state' | 'reason' | 'discard' | 'issues' | 'writtenAgoMs'
> & {
  /** Held, and a person has released the change: the next sync sends it. */
  readonly released: boolean
  /** Since when it is in this state for this reason. */
  readonly since: string | null
  /** Calls in a row that settled nothing. */
  readonly attempts: number
  /** Until the next attempt; null when none is owed or one is under way, negative when it should have been made. */
  readonly nextInMs: number | null
  readonly owed: boolean
  readonly underWay: boolean
  /** Age of the oldest change that is not settled; null where none is known. */
  readonly owedSinceMs: number | null
  /** How long it is due already; negative: how long until then. Null when nothing is owed. */
  readonly overdueMs: number | null
  /** Age of a change that was captured and that no worker has noted yet; null: there is none. */
  readonly capturedMs: number | null
  /** False: the outbox is too large to look for such a change. */
  readonly outboxSearched: boolean
  readonly unknown: boolean
  /** An answer was lost or not clear, and the lookups that follow it are not over. */
  readonly unverified: boolean
  /** When the change was captured that was settled last. */
  readonly changedAt: string | null
  readonly acknowledgedAt: string | null
  /** The status that was last acknowledged. */
  readonly acknowledgedStatus: number | null
  /** The service has shown or taken a status of the user. */
  readonly metBefore: boolean
  /** When a GET last showed all that is desired. */
  readonly verifiedAt: string | null
  /** The difference that checks have found, and that is open; with one check it is only suspected. */
  readonly finding: FindingOfHistory | null
  readonly calls: readonly LoggedCall[]
}
/** Null: nothing is known of this key. */
export type History = Known | null

type FindingOfHistory = {
  readonly kind: string
  readonly fields: readonly string[]
  readonly cause: string | null
  readonly access: string | null
  readonly checks: number
  readonly repairs: number
  readonly firstSeen: string
}

/** Ids rise in the order of writing, which two processes may turn round: chosen by id, shown by time. */
const CALLS = `
SELECT jsonb_agg(jsonb_build_object('at', ${iso('c.at')}, 'by', c.by, 'plan', c.plan, 'method', c.method,
    'status', c.status, 'error', c.error, 'meaning', c.meaning, 'ms', c.ms, 'fields', c.fields, 'answer', c.answer)
  ORDER BY c.at, c.id)
FROM (SELECT * FROM rollcall.call WHERE key = $1 ORDER BY id DESC LIMIT $2) c`

const FINDING = `
SELECT jsonb_build_object('kind', f.kind, 'fields', f.fields, 'cause', f.cause, 'access', f.access, 'checks', f.checks,
  'repairs', f.repairs, 'firstSeen', ${iso('f.first_seen')})
FROM rollcall.finding f WHERE f.key = $1 AND f.resolved_at IS NULL`

const AGE = (column: string) => wholeMs(`clock_timestamp() - ${column}`)

/** A larger outbox has no index by key and is not searched. */
const SEARCHED_BYTES = 32 * 1_048_576

/** One statement, so that all of it is of one moment. */
const HISTORY = `
SELECT coalesce(l.state, 'idle') AS state, coalesce(l.state = 'held' AND ${OPEN_RELEASE}, false) AS released, l.reason, ${DISCARDED_NOW} AS discard, coalesce(l.issues, '[]') AS issues, ${iso('l.since')} AS since,
  coalesce(o.attempts, 0) AS attempts,
  CASE WHEN NOT ${ATTEMPTED} THEN -${AGE('o.due_at')} END AS "nextInMs",
  o.due_at IS NOT NULL OR b.captured_at IS NOT NULL AS owed, coalesce(${ATTEMPTED}, false) AS "underWay", coalesce(o.unknown, false) AS unknown,
  coalesce(o.verify_left > 0, false) AS unverified,
  ${AGE('o.changed_at')} AS "owedSinceMs", ${AGE('o.due_at')} AS "overdueMs",
  b.searched AS "outboxSearched", ${AGE('b.captured_at')} AS "capturedMs",
  ${AGE('l.acknowledged_at')} AS "writtenAgoMs", CASE WHEN NOT coalesce(o.status_unknown, false) THEN l.sent_status END AS "acknowledgedStatus",
  coalesce(l.sent_status, l.seen_status) IS NOT NULL AS "metBefore", (${FINDING}) AS finding,
  ${iso('l.changed_at')} AS "changedAt", ${iso('l.acknowledged_at')} AS "acknowledgedAt",
  ${iso('l.verified_at')} AS "verifiedAt", l.user_id AS "userId", coalesce(l.remote, 'unasked') AS remote,
  coalesce(c.calls, '[]') AS calls,
  l.key IS NOT NULL OR o.change_version > 0 OR b.captured_at IS NOT NULL OR c.calls IS NOT NULL AS known
FROM (SELECT s.searched, CASE WHEN s.searched THEN (SELECT min(at) FROM rollcall.outbox WHERE key = $1) END AS captured_at
    FROM (SELECT pg_relation_size('rollcall.outbox') <= ${SEARCHED_BYTES} AS searched) s) b
  CROSS JOIN (SELECT (${CALLS}) AS calls) c
  LEFT JOIN rollcall.ledger l ON l.key = $1
  LEFT JOIN rollcall.owed o ON o.key = $1`

/** The record of a customer in our tables, with its last `limit` calls. Reads only. */
export async function readHistory(client: Client, key: CustomerKey, limit: number): Promise<History> {
  type Row = Known & { readonly known: boolean }
  const { known, ...history } = await oneRow<Row>(client, HISTORY, [key, limit])
  return known ? history : null
}

const KNOWN = `
SELECT asked.key FROM unnest($1::text[]) AS asked (key)
WHERE EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = asked.key)
  OR EXISTS (SELECT FROM rollcall.owed o WHERE o.key = asked.key AND o.change_version > 0)
  OR pg_relation_size('rollcall.outbox') <= ${SEARCHED_BYTES} AND EXISTS (
    SELECT FROM rollcall.outbox b WHERE b.key = asked.key)`

/** The keys with a record, with work, or with a captured change; none where the tables are missing or not readable. */
export async function knownKeysIfAny(
  client: Client,
  keys: readonly CustomerKey[],
): Promise<ReadonlySet<CustomerKey>> {
  if (keys.length === 0) return new Set()
  const { readable } = await oneRow<{ readable: boolean }>(
    client,
    `SELECT bool_and(coalesce(has_table_privilege(to_regclass('rollcall.' || name), 'SELECT'), false)) AS readable
     FROM unnest('{ledger,owed,outbox}'::text[]) AS name`,
  )
  if (!readable) return new Set()
  return new Set(await keysBy(client, KNOWN, [keys]))
}
