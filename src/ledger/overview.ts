import { type Client, oneRow } from '../database/client.ts'
import { ms } from '../database/sql.ts'
import { LANE, type Lane } from '../model/customer.ts'
import { CALLS_STOPPED } from '../pace/read.ts'
import { OPEN_RELEASE } from './decided.ts'
import { CODE, COMMON, type IssueGroup, type ReasonGroup, type Waiting } from './failures.ts'

/** The part of the tables that `rollcall status` shows; counts and times only. Ages in milliseconds. */
export type Overview = {
  readonly target: { readonly origin: string } | null
  readonly customers: number
  readonly owed: Readonly<Record<keyof typeof LANE, number>> & {
    /** Due now or earlier and on no queue. */
    readonly due: number
    readonly queued: number
    readonly active: number
    readonly waiting: number
    readonly oldestAgeMs: number | null
    /**
     * For how long the longest waiting of those who are due waits for a worker. Null: none, or calls are stopped. A backfill's
     * wait for the pace: they count only while nothing is queued or under way, and ten seconds after the last call.
     */
    readonly waitsForWorkerMs: number | null
  }
  readonly unknown: number
  /** Idle ones are settled; owed ones would be without the sync that they are owed. Held customers wait for a person; released ones are on their way. */
  readonly states: Readonly<
    Record<'idle' | 'owed' | 'rejected' | 'failing' | 'held' | 'released' | 'discarded', number>
  >
  readonly reasons: readonly Omit<ReasonGroup, keyof Waiting | 'example'>[]
  /** Left-out fields, as `failures` groups them. For a rejected customer nothing is sent, so nothing is left out. */
  readonly fieldIssues: readonly Pick<IssueGroup, 'field' | 'code' | 'customers' | 'example'>[]
  readonly outbox: { readonly rows: number; readonly bytes: number; readonly oldestAgeMs: number | null }
}

const AGE = (column: string) => ms(`clock_timestamp() - min(${column})`)

const OVERVIEW = `
SELECT
  (SELECT jsonb_build_object('origin', origin) FROM rollcall.target) AS target,
  (SELECT count(*)::int FROM rollcall.ledger) AS customers,
  (SELECT jsonb_build_object(
     'deletion', count(*) FILTER (WHERE lane = 0), 'change', count(*) FILTER (WHERE lane = 1),
     'repair', count(*) FILTER (WHERE lane = 2), 'backfill', count(*) FILTER (WHERE lane = 3),
     'due', count(*) FILTER (WHERE due_at <= now()),
     'queued', count(*) FILTER (WHERE due_at > now() AND token IS NOT NULL AND call_token IS NULL),
     'active', count(*) FILTER (WHERE due_at > now() AND call_token IS NOT NULL),
     'waiting', count(*) FILTER (WHERE due_at > now() AND token IS NULL),
     'oldestAgeMs', ${AGE('changed_at')},
     'waitsForWorkerMs', CASE WHEN NOT ${CALLS_STOPPED} THEN (extract(epoch FROM clock_timestamp() - least(
       min(due_at) FILTER (WHERE due_at <= now() AND lane < ${LANE.backfill}),
       CASE WHEN count(*) FILTER (WHERE due_at > now() AND token IS NOT NULL) = 0
           AND coalesce((SELECT at FROM rollcall.call ORDER BY id DESC LIMIT 1) < now() - interval '10 seconds', true)
         THEN min(due_at) FILTER (WHERE due_at <= now()) END)) * 1000)::float8 END)
   FROM rollcall.owed WHERE due_at IS NOT NULL) AS owed,
  (SELECT count(*)::int FROM rollcall.owed WHERE unknown AND due_at IS NOT NULL) AS unknown,
  (SELECT jsonb_build_object(
     'idle', count(*) FILTER (WHERE state = 'idle' AND o.key IS NULL AND NOT (remote = 'unasked' AND generation IS NULL)),
     'owed', count(*) FILTER (WHERE state IN ('idle', 'discarded') AND o.key IS NOT NULL),
     'rejected', count(*) FILTER (WHERE state = 'rejected'),
     'failing', count(*) FILTER (WHERE state = 'failing'),
     'held', count(*) FILTER (WHERE state = 'held' AND NOT ${OPEN_RELEASE}),
     'released', count(*) FILTER (WHERE state = 'held' AND ${OPEN_RELEASE}),
     'discarded', count(*) FILTER (WHERE state = 'discarded' AND o.key IS NULL))
   FROM rollcall.ledger l LEFT JOIN rollcall.owed o ON o.key = l.key AND o.due_at IS NOT NULL) AS states,
  (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY customers DESC, code), '[]') FROM (
     SELECT CASE WHEN l.state = 'held' AND ${OPEN_RELEASE} THEN 'released' ELSE l.state END AS state,
       ${CODE} AS code, (l.reason->>'status')::int AS status, l.reason->>'error' AS error,
       ${COMMON}, count(*)::int AS customers
     FROM rollcall.ledger l WHERE l.state <> 'idle' GROUP BY 1, 2, 3, 4) r) AS reasons,
  (SELECT coalesce(jsonb_agg(to_jsonb(i) ORDER BY customers DESC, field), '[]') FROM (
     SELECT issue->>'field' AS field, issue->>'code' AS code, count(*)::int AS customers, min(l.key) AS example
     FROM rollcall.ledger l, jsonb_array_elements(l.issues) issue WHERE l.state <> 'rejected' GROUP BY 1, 2) i) AS "fieldIssues",
  (SELECT jsonb_build_object('rows', count(*), 'bytes', pg_relation_size('rollcall.outbox'), 'oldestAgeMs', ${AGE('at')})
   FROM rollcall.outbox) AS outbox`

export async function readOverview(client: Client): Promise<Overview> {
  return await oneRow<Overview>(client, OVERVIEW)
}

/** A customer that has failed so often in a row is not waited for: its cause needs a person, or time. */
const SEVERAL_TIMES = 5

/** `open`: owed, and not one of those who fail again and again. */
type LaneOpen = { readonly open: number; readonly failAgain: number }

const OPEN_IN_LANE = `
SELECT (count(*) FILTER (WHERE attempts < ${SEVERAL_TIMES}))::int AS open,
  (count(*) FILTER (WHERE attempts >= ${SEVERAL_TIMES}))::int AS "failAgain"
FROM rollcall.owed WHERE lane = $1 AND due_at IS NOT NULL`

/** Customers that are still owed a sync in this lane. A live change moves a customer to another lane. */
export async function readOpen(client: Client, lane: Lane): Promise<LaneOpen> {
  return await oneRow<LaneOpen>(client, OPEN_IN_LANE, [lane])
}
