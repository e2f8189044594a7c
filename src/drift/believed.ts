// Whether a finding is told: as SQL, for all that read findings.

/**
 * What drift_run.outcome says while a run or a round cannot be believed: a run before it has ended, since only all of it
 * tells, and whatever shows that the service is to be doubted.
 */
const NOT_BELIEVED = `('unjudged', 'not-credible')`

/**
 * Of a finding (`f`): whoever has shown it last can be believed. It goes by the row of the run or round, and nothing is
 * written when that changes: so it holds from the statement on that judges it, and whatever dies before leaves nobody
 * accused.
 */
export const BELIEVED = `NOT EXISTS (SELECT FROM rollcall.drift_run b WHERE b.id = f.run_id AND b.outcome IN ${NOT_BELIEVED})`

/**
 * What the run or round of that id has shown that cannot be believed is a suspicion again, and no more than that also once
 * other answers are believed: it has to be shown twice by those. Workers look soon.
 */
export const SUSPECT_AGAIN = `
WITH shown AS MATERIALIZED (
  SELECT id FROM rollcall.finding WHERE run_id = $1 AND resolved_at IS NULL AND looks >= 2 ORDER BY key FOR UPDATE)
UPDATE rollcall.finding f SET looks = 1, pending = '{}', next_look_at = now() + interval '10 minutes'
FROM shown WHERE f.id = shown.id`

/** Of a finding (`f`): shown twice, and by somebody who can be believed. */
export const CONFIRMED = `f.looks >= 2 AND ${BELIEVED}`

/** Of a finding (`f`): that, and open. */
export const TOLD = `${CONFIRMED} AND f.resolved_at IS NULL`

/**
 * Whose a finding (`f`) is once the run or round of that parameter has shown it. One that is not believed, or not judged
 * yet, leaves what is told to whoever has told it: else all of that would be gone for as long as it lasts.
 */
export const ownerAfter = (parameter: string) => `CASE WHEN ${CONFIRMED}
  AND EXISTS (SELECT FROM rollcall.drift_run b WHERE b.id = ${parameter} AND b.outcome IN ${NOT_BELIEVED})
  THEN f.run_id ELSE ${parameter}::bigint END`
