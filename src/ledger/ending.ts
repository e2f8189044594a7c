// How a claim ends, and the statement that stores it.
import type { Pool } from 'pg'
import { halvedOnRowError, makeBatch, retried } from '../database/batch.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { UserField } from '../model/user.ts'
import type { Claim } from './claim.ts'
import { type ForClaimants, noteNewClaimants, noteOthers, suspectLate } from './claimants.ts'
import { FINDING, RECEIPT, RECEIPT_VERIFIED, RELEASE } from './consequences.ts'
import { LOOKUPS_AFTER, LOOKUPS_DERIVED } from './lookups.ts'
import { type LedgerRecord, listParts, RECORD_COLUMNS, RECORD_PARTS } from './record.ts'

/**
 * The outcome of all writing requests of a claim. `none`: none was sent. `refused`: surely none was carried out. `accepted`:
 * one was answered with a yes, or with neither yes nor no. `lost`: else, and one may have been carried out.
 */
export type Writes = 'none' | 'refused' | 'accepted' | 'lost'

/**
 * How a claim ends. sync/finish.ts has the values of a plain update. The parts from `next` on are mostly for other cases. Times
 * (`…AtMs`) are in milliseconds since 1970, by the database's clock.
 */
export type Ending = {
  readonly claim: Pick<Claim, 'id' | 'token' | 'key' | 'version' | 'nowMs' | 'changedAtMs' | 'generation'>
  /**
   * `settle`: the plan for the claimed version is carried out, or needs a person (rejected, held, discarded). `retry`: it is
   * known that nothing was carried out since the last acknowledged call, and another attempt follows. `unknown`: a write may
   * have reached the service, and it is not known whether it did.
   */
  readonly kind: 'settle' | 'retry' | 'unknown'
  readonly writes: Writes
  /** Fields that a clear yes was about (with the `user_id`: the whole user), or that no check compares: findings about them are over. */
  readonly acknowledged: readonly UserField[]
  /** Null: no call was made, so no answer tells of the user. */
  readonly lastAnswer: {
    readonly method: string
    readonly status: number | null
    readonly error: string | null
  } | null
  /** Digest of what the mapping made of the customer. */
  readonly desiredDigest: string | null
  readonly record: LedgerRecord

  readonly next: NextSync
  readonly lookups: ForLookups
  readonly erasure: ForErasure
  readonly others: ForClaimants
}

type NextSync = {
  readonly failed: boolean
  readonly backoffMs: number
  /**
   * When the customer is planned again though nothing has changed: the mapping's answer ceases to hold, or a value that
   * another user had is tried again. Null: there is no such time.
   */
  readonly replanAtMs: number | null
}

type ForLookups = {
  /** A GET was made; in a settle it was answered. */
  readonly getMade: boolean
  /** For so long a GET may miss a write of this claim: the service's lag, and as long as a request without an answer may arrive. */
  readonly lateMs: number
  /**
   * The last write was answered with neither yes nor no, or a user who was there is gone. Its request is over, so an unknown
   * outcome waits for `lateMs` alone, and needs no verification (a later lookup). A settle that took such an answer for a yes
   * asks for one verification; where the user is gone, it asks for all of them.
   */
  readonly unclear: boolean
  /** The status was known at the claim, and nothing that it sent was carried out; or a retry follows an acknowledged status. */
  readonly statusKnown: boolean
}

/** The addition to the receipt of a customer whose personal fields are erased. */
type ForErasure = {
  /** Fields whose clearing was answered with a yes, or taken for one; null: no such call. */
  readonly cleared: readonly string[] | null
  /** Fields that a lookup after an earlier call still showed; null: no GET was made. */
  readonly left: readonly string[] | null
}

/** Else a mapping whose answer holds until now would be planned again without a pause. */
const SHORTEST_REPLAN = `interval '1 second'`

// docs/protocol.md has the plain case of each kind as a table. `plain`: after a PATCH that was answered with 200. `e` are the endings as
// `flat` makes them, and `o` is the row that changes. END joins the parts: `e`, then `locked`, then `ended` (OWED), then the record
// (LEDGER, with `r`: the record of `e`). DERIVED computes the names without a prefix. It cannot name `o`, so it uses
// `locked`: the same row as it was locked.

/**
 * `pause`: between two syncs of a customer. `shown_at`: when a GET shows the last request. `risen`: a change was noted during the claim.
 * `suspected`: a lookup was requested during it. Plain: both are false, `replan` is null, and of the times only `pause` is used.
 */
const DERIVED = `
SELECT $3 * interval '1 ms' AS pause,
  e."backoffMs" * interval '1 ms' AS backoff,
  greatest(CASE WHEN NOT e.unclear THEN locked.due_at END, now() + e."lateMs" * interval '1 ms') AS shown_at,
  locked.change_version > e.version AS risen,
  locked.suspect_version > e.version AS suspected,
  CASE WHEN e."replanAtMs" IS NOT NULL
    THEN greatest(to_timestamp(e."replanAtMs" / 1000), now() + ${SHORTEST_REPLAN}) END AS replan,
  -- plain: all are false, but known is true
  ${LOOKUPS_DERIVED}`

/** Plain: both tokens, `due_at` and `changed_at` become null, `attempts` 0, `not_before` the end of the pause, and the version is settled. */
const OWED = `
UPDATE rollcall.owed o SET
  token = NULL,
  call_token = NULL,
  -- plain: the claimed version
  synced_version = CASE WHEN e.kind = 'settle' THEN e.version ELSE o.synced_version END,
  -- plain: null. A time that passed during the claim stays, since the claim did not plan for it: another customer may have given up a
  -- value, perhaps while this statement waited for the row.
  replan_at = CASE WHEN o.replan_at > to_timestamp(e."claimedAtMs" / 1000) AND o.replan_at <= clock_timestamp() THEN o.replan_at
    WHEN e.kind = 'settle' OR replan IS NOT NULL THEN replan ELSE o.replan_at END,
  -- plain: the end of the pause
  not_before = CASE e.kind
    WHEN 'settle' THEN greatest(now() + pause, CASE WHEN suspected THEN o.not_before END)
    WHEN 'unknown' THEN shown_at ELSE o.not_before END,
  due_at = CASE
    WHEN e.kind = 'unknown' AND risen THEN shown_at
    WHEN e.kind = 'unknown' THEN greatest(shown_at, now() + backoff)
    WHEN suspected THEN greatest(now() + pause, o.not_before)
    WHEN risen THEN now() + pause
    WHEN e.kind = 'retry' THEN now() + backoff
    ELSE NULL END, -- plain: settled, and nothing has come
  -- plain: 0
  attempts = CASE WHEN e.kind = 'settle' THEN 0 WHEN e.failed THEN o.attempts + 1 ELSE o.attempts END,
  -- plain: null
  changed_at = CASE WHEN e.kind <> 'settle' THEN o.changed_at WHEN risen THEN now() ELSE NULL END,
  -- plain: these keep their values
  ${LOOKUPS_AFTER}
-- The tokens are compared with the locked row, which has the same: compared with o, the join would go through all pairs.
FROM e JOIN locked ON locked.id = e.id AND locked.token = e.token AND locked.call_token = e.token, LATERAL (${DERIVED}) derived
WHERE o.id = e.id
RETURNING o.id, o.key, e.token`

/** Plain: null. Set where a GET showed the desired user, and no write was accepted. The time is the claim's beginning: the GET may show that state. */
const VERIFIED = `CASE WHEN e.kind = 'settle' AND r.state = 'idle' AND e."getMade" AND e.writes <> 'accepted'
    THEN to_timestamp(e."claimedAtMs" / 1000) END`

/**
 * The record, and the times of the change, of its acknowledgement, of its settle and of its verification (`proved_at`: the first one
 * after the change). Plain: the row exists. `changed_at`, `acknowledged_at` and `settled_at` are set; the other times stay.
 */
const LEDGER = `
INSERT INTO rollcall.ledger AS l (key, ${RECORD_COLUMNS}, last_answer, desired, generation, since,
  changed_at, acknowledged_at, settled_at, verified_at, proved_at)
SELECT ended.key, ${listParts((name) => `r."${name}"`)}, e."lastAnswer", e."desiredDigest", e.generation, now(),
  CASE WHEN e.kind = 'settle' THEN to_timestamp(e."changedAtMs" / 1000) END,
  CASE WHEN e.writes = 'accepted' THEN now() END,
  CASE WHEN e.kind = 'settle' AND r.state = 'idle' THEN now() END,
  ${VERIFIED}, ${VERIFIED}
FROM ended JOIN e USING (id, token), jsonb_to_record(e.record) AS r (${RECORD_PARTS})
ORDER BY ended.key
ON CONFLICT (key) DO UPDATE SET ${listParts((_, column) => `${column} = excluded.${column}`)},
  last_answer = coalesce(excluded.last_answer, l.last_answer),
  desired = excluded.desired, generation = excluded.generation,
  since = CASE WHEN (l.state, l.reason) IS NOT DISTINCT FROM (excluded.state, excluded.reason)
    THEN coalesce(l.since, excluded.since) ELSE excluded.since END,
  changed_at = coalesce(excluded.changed_at, l.changed_at),
  acknowledged_at = coalesce(excluded.acknowledged_at, l.acknowledged_at),
  settled_at = coalesce(excluded.settled_at, l.settled_at),
  verified_at = coalesce(excluded.verified_at, l.verified_at),
  proved_at = CASE WHEN l.proved_at >= coalesce(excluded.changed_at, l.changed_at) THEN l.proved_at
    ELSE coalesce(excluded.proved_at, l.proved_at) END`

/**
 * Guarded by the token of the claim and by nothing else: an ending guarded by the change version would throw
 * away what the service acknowledged. All that it changes of its own customer is one statement. The receipt that a lookup completes is
 * the latest, made by an earlier claim.
 */
const END = `
WITH e AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS e (
    id bigint, token bigint, version bigint, kind text, writes text, failed boolean,
    "backoffMs" float8, "lateMs" float8, unclear boolean, "replanAtMs" float8, "claimedAtMs" float8, "getMade" boolean, acknowledged text[],
    "statusKnown" boolean, "changedAtMs" float8, generation bigint, "desiredDigest" text, record jsonb,
    erasure jsonb, "lastAnswer" jsonb)),
locked AS MATERIALIZED (
  SELECT o.id, o.key, o.token, o.call_token, o.due_at, o.unknown, o.change_version, o.suspect_version, o.synced_version, o.verify_left, o.verify_at
  FROM rollcall.owed o WHERE o.id = ANY($2) ORDER BY o.key FOR UPDATE OF o),
found AS MATERIALIZED (
  SELECT f.id, f.key, f.kind, f.fields FROM rollcall.finding f JOIN locked USING (key) WHERE f.resolved_at IS NULL ORDER BY f.key FOR UPDATE OF f),
ended AS (${OWED}),
recorded AS (${LEDGER}),
-- plain: none of these changes a row
receipts AS (${RECEIPT_VERIFIED}),
erased AS (${RECEIPT}),
repaired AS (${FINDING}),
spent AS (${RELEASE})
SELECT ended.token::text, ended.key AS customer, r.id::text AS finding, r.closed_how AS how
FROM ended LEFT JOIN repaired r ON r.key = ended.key AND r.closed_how IS NOT NULL`

/** A finding that an ending has closed. A suspicion ends silently. */
type ClosedFinding = { readonly customer: CustomerKey; readonly finding: string; readonly how: string }

/** As the statement reads it. */
function flat({ claim, next, lookups, others: _, ...ending }: Ending) {
  const { id, token, version, nowMs: claimedAtMs, changedAtMs, generation } = claim
  return { ...ending, ...next, ...lookups, id, token, version, claimedAtMs, changedAtMs, generation }
}

type Storing = {
  readonly pool: Pool
  readonly pauseMs: number
  readonly onClosed: (closed: ClosedFinding) => void
}

async function store(
  { pool, pauseMs, onClosed }: Storing,
  endings: readonly Ending[],
): Promise<ReadonlyMap<Ending, boolean>> {
  const ids = endings.map(({ claim }) => claim.id)
  const values = [JSON.stringify(endings.map(flat)), ids, pauseMs]
  const { rows } = await pool.query<{ token: string } & (ClosedFinding | { finding: null })>(END, values)
  for (const { token: _, ...closed } of rows) if (closed.finding !== null) onClosed(closed) // plain: none
  const tokens = new Set(rows.map(({ token }) => token))
  return new Map(endings.map((ending) => [ending, tokens.has(ending.claim.token)]))
}

/** Stores an ending; false when it came too late to count. `pauseMs`: the least time between two syncs of a customer. */
export function makeStoreEnding(
  pool: Pool,
  pauseMs: number,
  onClosed: Storing['onClosed'] = () => undefined,
): (ending: Ending) => Promise<boolean> {
  const storing = { pool, pauseMs, onClosed }
  return makeBatch<Ending, boolean>(async (endings) => {
    // Before the endings: the row of a removed customer is gone already, so a claimant noted here may make a lookup now. A
    // crash between the two statements leaves no claimant rejected because of a removed customer.
    await noteOthers(pool, endings) // plain: finds no other customer
    const stored = await halvedOnRowError(endings, (some) => retried(() => store(storing, some)))
    const tooLate = endings.filter((ending) => ending.writes !== 'none' && stored.get(ending) === false)
    const counted = endings.filter((ending) => stored.get(ending) === true)
    try {
      // plain: nothing to do
      await retried(() => suspectLate(pool, tooLate))
      await retried(() => noteNewClaimants(pool, counted))
    } catch (error) {
      // Not thrown: a batch that is made again would find no row for its stored endings, and take them for late ones.
      return endings.map(() => error as Error)
    }
    return endings.map((ending) => stored.get(ending) ?? false)
  })
}
