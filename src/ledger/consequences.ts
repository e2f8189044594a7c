// The other tables that the end of a claim changes, as parts of its statement (ending.ts): `e` are the endings, `ended` those
// that count, `found` the open findings of their customers.

/** A lookup that shows the last erasure completes its receipt. */
export const RECEIPT_VERIFIED = `
UPDATE rollcall.erasure x SET verified_at = now(),
  left_fields = ARRAY(SELECT jsonb_array_elements_text(e.erasure->'left'))
FROM ended JOIN e USING (id, token)
WHERE jsonb_typeof(e.erasure->'left') = 'array' AND x.verified_at IS NULL
  AND x.id = (SELECT max(id) FROM rollcall.erasure WHERE key = ended.key)`

export const RECEIPT = `
INSERT INTO rollcall.erasure (key, user_id, fields, erased_at)
SELECT ended.key, e.record->>'userId', ARRAY(SELECT jsonb_array_elements_text(e.erasure->'cleared')), now()
FROM ended JOIN e USING (id, token)
WHERE jsonb_typeof(e.erasure->'cleared') = 'array' ORDER BY ended.key`

/** A settled customer is up to date by now, as far as this claim has seen or written it; a check finds out the rest. */
export const FINDING = `
UPDATE rollcall.finding f SET
  resolved_at = CASE WHEN was.settled THEN now() END,
  next_check_at = CASE WHEN NOT was.settled THEN coalesce(f.next_check_at, now() + e."lateMs" * interval '1 ms') END,
  pending = CASE WHEN was.settled THEN '{}' ELSE f.pending END,
  cause = CASE WHEN was.settled AND was.own_form THEN 'normalised' ELSE f.cause END,
  resolved_how = CASE WHEN NOT was.settled THEN NULL WHEN was.own_form THEN 'normalised'
    WHEN f.desired IS DISTINCT FROM e."desiredDigest" THEN 'by-a-change' WHEN e.writes = 'accepted' THEN 'repaired' ELSE 'by-itself' END
FROM found, ended JOIN e USING (id, token), LATERAL (SELECT
  e.writes <> 'accepted' AND found.fields <> '{}' AND found.fields <@ ARRAY(
    SELECT jsonb_object_keys(coalesce(nullif(e.record->'observedForms', 'null'), '{}'))) AS own_form,
  (e."getMade" AND NOT coalesce(e.unclear, false)) OR CASE found.kind WHEN 'unreadable' THEN false
    WHEN 'missing' THEN 'user_id' = ANY(e.acknowledged) WHEN 'unexpected-access' THEN 'status' = ANY(e.acknowledged)
    ELSE found.fields <@ e.acknowledged END AS settled) was
WHERE f.id = found.id AND found.key = ended.key AND e.kind = 'settle' AND e.record->>'state' = 'idle'
RETURNING f.id, f.key, CASE WHEN f.checks >= 2 THEN f.resolved_how END AS closed_how`

/**
 * A release was for what the customer was held for: once that is settled, or is something else, it is used up. Another part
 * of the change may stay held or discarded.
 */
export const RELEASE = `
UPDATE rollcall.decided d SET spent_at = now() FROM ended JOIN e USING (id, token)
WHERE d.key = ended.key AND d.spent_at IS NULL AND e.kind = 'settle'
  AND (e.record->>'state' = 'idle' OR d.desired IS DISTINCT FROM e."desiredDigest"
    OR (e.record->>'state' = 'discarded' OR (e.record->>'state' = 'held' AND e.writes = 'accepted'))
    AND NOT d.kinds ?| ARRAY(SELECT jsonb_array_elements_text(e.record->'reason'->'kinds')))`
