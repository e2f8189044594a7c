// The decisions of a person on held changes, as conditions over `l`, a row of the ledger. A customer that is released, and that
// no claim has carried out yet, is still in the state `held`, and waits for no person.

/** Released for a kind, for what is desired now. */
export const releasedFor = (kind: string) => `EXISTS (
  SELECT FROM rollcall.decided d
  WHERE d.key = l.key AND d.desired = l.desired AND d.spent_at IS NULL AND d.kinds ? ${kind})`

/** And for all kinds for which it is held. */
export const OPEN_RELEASE = `(l.reason->'kinds'->0 IS NOT NULL AND NOT EXISTS (
  SELECT FROM jsonb_array_elements_text(l.reason->'kinds') AS k (kind) WHERE NOT ${releasedFor('k.kind')}))`

/** The change that a person has discarded, if it is one of what is desired now. */
export const DISCARDED_NOW = `(CASE WHEN l.discard->>'desired' IS NOT DISTINCT FROM l.desired THEN l.discard END)`

/** A person has discarded the change, be it that the customer is failing or rejected for another reason. */
export const IS_DISCARDED = `(l.state = 'discarded' OR (l.state IN ('failing', 'rejected') AND ${DISCARDED_NOW} IS NOT NULL))`
