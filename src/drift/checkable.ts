// Conditions of statements. Over `l`, a row of the ledger: whom a check can say something about, and the last such check.

/** A customer never registered has no user of ours; one rejected, held or discarded differs for a reason that is known. */
export const CHECKABLE = `l.remote <> 'unasked' AND l.state IN ('idle', 'failing')`

/** The last GET with a clear answer; of syncs as far as they agreed. A time of the future is one of before the clock was set back. */
export const SEEN_AT = `greatest(CASE WHEN l.looked_at <= clock_timestamp() THEN l.looked_at END,
  CASE WHEN l.verified_at <= clock_timestamp() THEN l.verified_at END)`

/** Over a finding (`f`): two checks have shown it, and it is open. */
export const CONFIRMED = 'f.looks >= 2 AND f.resolved_at IS NULL'
