// The common parts of statements that owe a sync; `o` is the work row.

/** A sync has the token. While nothing is due it is that of a check, which writes nothing to the service. */
export const UNDER_WAY = '(o.token IS NOT NULL AND o.due_at IS NOT NULL)'

/** The version rises, and the row is taken from a check at once, whose ending is dropped. */
export const OWE = `change_version = o.change_version + 1,
  token = CASE WHEN o.due_at IS NOT NULL THEN o.token END,
  call_token = CASE WHEN o.due_at IS NOT NULL THEN o.call_token END`

/** And a look comes first: version and suspicion rise together. */
export const OWE_LOOK = `${OWE}, suspect_version = o.change_version + 1, unknown = true`

/** Never before `not_before`: a late request of an earlier call may still arrive until then. */
export const DUE_NOW = `due_at = CASE WHEN ${UNDER_WAY} THEN o.due_at ELSE least(o.due_at, greatest(now(), o.not_before)) END`

/** A waiting customer keeps its time. */
export const DUE_GENTLY = 'due_at = coalesce(o.due_at, greatest(now(), o.not_before))'

/** A waiting customer keeps an earlier lane. */
export const inLane = (lane: string) =>
  `lane = CASE WHEN o.due_at IS NULL THEN ${lane} ELSE least(o.lane, ${lane}) END`

/**
 * After an outcome that was unknown, a request may arrive later than any process waits for it. So two lookups
 * follow: a minute after the one that found the outcome, and ten minutes after that.
 */
export const VERIFICATIONS = 2

/** How long after a look or a write the first verification is due. */
export const VERIFY_FIRST = `interval '1 minute'`

/** How long after the present look the next one is due; in the terms of the statement that counts them down. */
export const VERIFY_AFTER = `CASE o.verify_left WHEN ${VERIFICATIONS} THEN ${VERIFY_FIRST} ELSE interval '10 minutes' END`
