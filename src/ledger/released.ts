// Customers whom a person has released and no claim has carried out yet, as conditions over `l`, a row of the ledger. They
// are still in the state `held`, and wait for no person.

/** Released for a kind, for what is desired now. */
export const releasedFor = (kind: string) => `EXISTS (
  SELECT FROM rollcall.decided d
  WHERE d.key = l.key AND d.desired = l.desired AND d.spent_at IS NULL AND d.kinds ? ${kind})`

/** And for all kinds for which it is held. */
export const OPEN_RELEASE = `(l.reason->'kinds'->0 IS NOT NULL AND NOT EXISTS (
  SELECT FROM jsonb_array_elements_text(l.reason->'kinds') AS k (kind) WHERE NOT ${releasedFor('k.kind')}))`
