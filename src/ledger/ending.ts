// The statement that stores how a claim ends.
import type { Pool } from 'pg'
import { halvedUntilApart } from '../database/apart.ts'
import { makeBatch, retried } from '../database/batch.ts'
import { noteNamed, noteSharers, suspectLate } from './claimants.ts'
import type { Ending } from './end-of-claim.ts'
import { VERIFICATIONS, VERIFY_AFTER, VERIFY_FIRST } from './owe.ts'
import { RECORD_COLUMNS } from './record.ts'

/** A mapping that says that its answer holds until now would be asked again without a pause. */
const SHORTEST_REPLAN = `interval '1 second'`

/** Whether the request may show late, what waits for it, and whether lookups follow. */
const TIMES = `
SELECT e."gapMs" * interval '1 ms' AS gap,
  e."backoffMs" * interval '1 ms' AS backoff,
  greatest(CASE WHEN NOT e.unclear THEN b.due_at END, now() + e."lateMs" * interval '1 ms') AS shown,
  e.kind = 'unknown' AND NOT e.unclear AS arrives,
  -- No call was made: another customer has the user. That one looks; this one keeps its doubt in its record.
  e.sure OR e.record->>'state' = 'idle' AS known,
  e.kind = 'settle' AND NOT e.sure AND e."lastAnswer" IS NULL AND e.record->>'state' = 'idle' AND b.unknown
    AND b.suspect_version <= e.version AS passed,
  -- A look that nothing but a suspicion has asked for asks for no other one: a form of the service's own would be
  -- written again for ever.
  e.kind = 'settle' AND e.unclear AND (b.suspect_version < e.version OR b.synced_version < e.version - 1) AS believed,
  CASE WHEN e."replanAtMs" IS NOT NULL
    THEN greatest(to_timestamp(e."replanAtMs" / 1000), now() + ${SHORTEST_REPLAN}) END AS replan,
  e.kind = 'settle' AND e.sure AND b.unknown AND b.suspect_version <= e.version
    AND b.verify_left > 0 AND b.verify_at IS NULL AS cleared`

/** The sync that is owed next. */
const OWED = `
UPDATE rollcall.owed o SET
  token = NULL,
  call_token = NULL,
  synced_version = CASE WHEN e.kind = 'settle' THEN e.version ELSE o.synced_version END,
  unknown = CASE e.kind
    WHEN 'settle' THEN o.suspect_version > e.version OR (o.unknown AND NOT t.known)
    WHEN 'unknown' THEN true ELSE o.unknown END,
  hidden_doubted = CASE e.kind
    -- A suspicion that came under the claim keeps a doubt, and makes none.
    WHEN 'settle' THEN o.hidden_doubted AND (o.suspect_version > e.version OR NOT t.known) ELSE o.hidden_doubted END,
  status_doubted = CASE e.kind
    WHEN 'settle' THEN o.status_doubted AND (o.suspect_version > e.version OR NOT t.known)
    ELSE o.status_doubted AND (NOT e."withdrawsDoubt" OR o.suspect_version > e.version) END,
  verify_left = CASE WHEN t.arrives THEN ${VERIFICATIONS}
    -- That no user is there may be the answer of a gateway, for as long as a deployment takes.
    WHEN t.believed AND e.record->>'remote' = 'absent' THEN ${VERIFICATIONS}
    WHEN t.believed THEN greatest(o.verify_left, 1) WHEN t.passed THEN 0 ELSE o.verify_left END,
  verify_at = CASE WHEN t.arrives THEN NULL WHEN t.cleared THEN now() + ${VERIFY_AFTER}
    WHEN t.believed THEN coalesce(o.verify_at, now() + ${VERIFY_FIRST}) ELSE o.verify_at END,
  -- What passed under the claim was not seen by it: another customer has given up a value, perhaps while this
  -- statement waited for the row.
  replan_at = CASE WHEN o.replan_at > to_timestamp(e."claimedAtMs" / 1000) AND o.replan_at <= clock_timestamp() THEN o.replan_at
    WHEN e.kind = 'settle' OR t.replan IS NOT NULL THEN t.replan ELSE o.replan_at END,
  not_before = CASE e.kind
    WHEN 'settle' THEN greatest(now() + t.gap, CASE WHEN o.suspect_version > e.version THEN o.not_before END)
    WHEN 'unknown' THEN t.shown ELSE o.not_before END,
  due_at = CASE
    WHEN e.kind = 'unknown' AND o.change_version > e.version THEN t.shown
    WHEN e.kind = 'unknown' THEN greatest(t.shown, now() + t.backoff)
    WHEN o.suspect_version > e.version THEN greatest(now() + t.gap, o.not_before)
    WHEN o.change_version > e.version THEN now() + t.gap
    WHEN e.kind = 'retry' THEN now() + t.backoff END,
  attempts = CASE WHEN e.kind = 'settle' THEN 0 WHEN e.failed THEN o.attempts + 1 ELSE o.attempts END,
  changed_at = CASE WHEN e.kind <> 'settle' THEN o.changed_at WHEN o.change_version > e.version THEN now() END
FROM e JOIN locked b USING (id), LATERAL (${TIMES}) t
WHERE o.id = ANY($2) AND o.id = e.id AND o.token = e.token AND o.call_token = e.token
RETURNING o.id, o.key, e.token`

/** A GET of the claim may show what was there when it began. */
const CLAIMED = 'to_timestamp(e."claimedAtMs" / 1000)'

/** The memory, and the times that prove what became of the change. */
const LEDGER = `
INSERT INTO rollcall.ledger AS l (key, ${RECORD_COLUMNS.inserted}, last_answer, desired, generation, since,
  changed_at, acknowledged_at, settled_at, verified_at, proved_at)
SELECT ended.key, ${RECORD_COLUMNS.values('r')}, e."lastAnswer", e.desired, e.generation, now(),
  CASE WHEN e.kind = 'settle' THEN to_timestamp(e."changedAtMs" / 1000) END,
  CASE WHEN e.acknowledged THEN now() END,
  CASE WHEN e.kind = 'settle' AND r.state = 'idle' THEN now() END,
  CASE WHEN e.verified THEN ${CLAIMED} END, CASE WHEN e.verified THEN ${CLAIMED} END
FROM ended JOIN e USING (id, token), jsonb_to_record(e.record) AS r (${RECORD_COLUMNS.defined})
ORDER BY ended.key
ON CONFLICT (key) DO UPDATE SET ${RECORD_COLUMNS.excluded},
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

/** A lookup that shows the last erasure completes its receipt. */
const RECEIPT_SEEN = `
UPDATE rollcall.erasure x SET verified_at = now(),
  left_fields = ARRAY(SELECT jsonb_array_elements_text(e.erasure->'left'))
FROM ended JOIN e USING (id, token)
WHERE jsonb_typeof(e.erasure->'left') = 'array' AND x.verified_at IS NULL
  AND x.id = (SELECT max(id) FROM rollcall.erasure WHERE key = ended.key)`

const RECEIPT = `
INSERT INTO rollcall.erasure (key, user_id, fields, erased_at)
SELECT ended.key, e.record->>'userId', ARRAY(SELECT jsonb_array_elements_text(e.erasure->'cleared')), now()
FROM ended JOIN e USING (id, token)
WHERE jsonb_typeof(e.erasure->'cleared') = 'array' ORDER BY ended.key`

/** A settled customer is up to date by now, as far as this claim has seen or written it; a check finds out the rest. */
const FINDING = `
UPDATE rollcall.finding f SET
  resolved_at = CASE WHEN was.settled THEN now() END,
  next_look_at = CASE WHEN NOT was.settled THEN coalesce(f.next_look_at, now() + e."lateMs" * interval '1 ms') END,
  pending = CASE WHEN was.settled THEN '{}' ELSE f.pending END,
  cause = CASE WHEN was.settled AND was.own_form THEN 'normalised' ELSE f.cause END,
  resolved_how = CASE WHEN NOT was.settled THEN NULL WHEN was.own_form THEN 'normalised'
    WHEN f.desired IS DISTINCT FROM e.desired THEN 'by-a-change' WHEN e.acknowledged THEN 'repaired' ELSE 'by-itself' END
FROM found, ended JOIN e USING (id, token), LATERAL (SELECT
  NOT e.acknowledged AND found.fields <> '{}' AND found.fields <@ ARRAY(
    SELECT jsonb_object_keys(coalesce(nullif(e.record->'normalised', 'null'), '{}'))) AS own_form,
  (e.looked AND NOT coalesce(e.unclear, false)) OR CASE found.kind WHEN 'unreadable' THEN false
    WHEN 'missing' THEN 'user_id' = ANY(e.confirmed) WHEN 'unexpected-access' THEN 'status' = ANY(e.confirmed)
    ELSE found.fields <@ e.confirmed END AS settled) was
WHERE f.id = found.id AND found.key = ended.key AND e.kind = 'settle' AND e.record->>'state' = 'idle'`

/** A release was for what the customer was held for: once that is settled, or is something else, it is used up. */
const RELEASE = `
UPDATE rollcall.decided d SET spent_at = now() FROM ended JOIN e USING (id, token)
WHERE d.key = ended.key AND d.spent_at IS NULL AND e.kind = 'settle'
  AND (e.record->>'state' = 'idle' OR d.desired IS DISTINCT FROM e.desired)`

/**
 * Guarded by the token of the claim and by nothing else: an ending guarded by the change version would throw
 * away what the service acknowledged. All that an ending changes is one statement. The receipt that a look completes is
 * the latest, made by an earlier claim.
 */
const END = `
WITH e AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS e (
    id bigint, token bigint, version bigint, kind text, sure boolean, acknowledged boolean, failed boolean,
    "gapMs" float8, "backoffMs" float8, "lateMs" float8, unclear boolean, "replanAtMs" float8, "claimedAtMs" float8, verified boolean, looked boolean, confirmed text[],
    "withdrawsDoubt" boolean, "changedAtMs" float8, generation bigint, desired text, record jsonb,
    erasure jsonb, "lastAnswer" jsonb)),
locked AS MATERIALIZED (
  SELECT o.id, o.key, o.due_at, o.unknown, o.suspect_version, o.synced_version, o.verify_left, o.verify_at
  FROM rollcall.owed o WHERE o.id = ANY($2) ORDER BY o.key FOR UPDATE OF o),
found AS MATERIALIZED (
  SELECT f.id, f.key, f.kind, f.fields FROM rollcall.finding f JOIN locked USING (key) WHERE f.resolved_at IS NULL ORDER BY f.key FOR UPDATE OF f),
ended AS (${OWED}),
recorded AS (${LEDGER}),
looked AS (${RECEIPT_SEEN}),
erased AS (${RECEIPT}),
repaired AS (${FINDING}),
spent AS (${RELEASE})
SELECT token::text FROM ended`

async function store(pool: Pool, endings: readonly Ending[]): Promise<ReadonlyMap<Ending, boolean>> {
  const ids = endings.map(({ id }) => id)
  const { rows } = await pool.query<{ token: string }>(END, [JSON.stringify(endings), ids])
  const tokens = new Set(rows.map(({ token }) => token))
  return new Map(endings.map((ending) => [ending, tokens.has(ending.token)]))
}

/** Records an ending; false when it came too late to count. */
export function makeEnd(pool: Pool): (ending: Ending) => Promise<boolean> {
  return makeBatch<Ending, boolean>(async (endings) => {
    // Before the endings: their customers are gone from the table already, so a claimant noted here may look now. A
    // crash between the two statements leaves no claimant rejected because of a removed customer.
    await noteNamed(pool, endings)
    const stored = await halvedUntilApart(endings, (some) => retried(() => store(pool, some)))
    // Tried again apart from the endings, which are stored: made again, they would match no row.
    const late = endings.filter((ending) => ending.wrote && stored.get(ending) === false)
    await retried(() => suspectLate(pool, late))
    const counted = endings.filter((ending) => stored.get(ending) === true)
    await retried(() => noteSharers(pool, counted))
    return endings.map((ending) => stored.get(ending) ?? false)
  })
}
