// Whom a look can say something about, and when that was done last: conditions over `l`, a row of the ledger.

/**
 * Who was never registered has no user of ours; who is rejected, held or discarded differs for a reason that is known.
 */
export const VERIFIABLE = `l.remote <> 'unasked' AND l.state IN ('idle', 'failing')`

/**
 * When a GET with a clear answer was made last; also those of syncs, as far as they agreed. One of the future was before
 * the clock was set back, nobody knows when.
 */
export const SEEN_AT = `greatest(CASE WHEN l.looked_at <= clock_timestamp() THEN l.looked_at END,
  CASE WHEN l.verified_at <= clock_timestamp() THEN l.verified_at END)`

/** Of a finding (`f`): two looks have shown it. */
export const CONFIRMED = 'f.looks >= 2'

/** Of a finding (`f`): that, and open. */
export const TOLD = `${CONFIRMED} AND f.resolved_at IS NULL`
