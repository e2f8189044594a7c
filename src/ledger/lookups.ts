// Lookups that a request (`suspect_version`), a crash or an unknown outcome asks for, as parts of statements: a plain change keeps their columns. `o`
// is the row of `rollcall.owed`.
import { OWE } from './note.ts'

/**
 * As OWE, with a lookup first: for a repair, a later lookup, a person, a claim that ended late, or that of another
 * customer with the same user. A claim of an earlier version cannot have seen it.
 */
export const OWE_LOOKUP = `${OWE}, suspect_version = o.change_version + 1, unknown = true`

/**
 * After an outcome that was unknown, a request may arrive later than any process waits for it. So two lookups
 * follow: a minute after the one that found the outcome, and ten minutes after that.
 */
export const VERIFICATIONS = 2

/** The first is due so long after a lookup or a write, and the next one so long after the lookup before it. */
const VERIFY_FIRST = `interval '1 minute'`
const VERIFY_AFTER = `CASE o.verify_left WHEN ${VERIFICATIONS} THEN ${VERIFY_FIRST} ELSE interval '10 minutes' END`

/** At the next lease. An open call mark means that a process died between its claim and its ending: what it sent is not known. */
export const AFTER_CRASH = `
  unknown = o.unknown OR o.call_token IS NOT NULL,
  hidden_unknown = o.hidden_unknown OR o.call_token IS NOT NULL,
  verify_left = CASE WHEN o.call_token IS NULL THEN o.verify_left ELSE ${VERIFICATIONS} END,
  verify_at = CASE WHEN o.call_token IS NULL THEN o.verify_at END`

/**
 * A crash hides a call; an attempt has failed; or an outcome was unknown, and no lookup has settled it. The first of the later
 * lookups counts as well: the others of its user are looked up once too often then.
 */
export const MAY_HAVE_WRITTEN = `o.unknown AND (o.hidden_unknown OR o.attempts > 0 OR (o.verify_left > 0 AND o.verify_at IS NULL))`

/** At an ending (ending.ts): `e` is the ending, `locked` its row. A name without a prefix follows from both. */
export const LOOKUPS_DERIVED = `
  e.kind = 'unknown' AND NOT e.unclear AS may_arrive,
  e."lastAnswer" IS NOT NULL OR e.record->>'state' = 'idle' AS known,
  -- No call was made: as a rule another customer has the user. It makes the lookup, and this record stays unknown.
  e.kind = 'settle' AND e."lastAnswer" IS NULL AND e.record->>'state' = 'idle' AND locked.unknown
    AND locked.suspect_version <= e.version AS handed_over,
  -- A claim that serves only a requested lookup requests no further one: a form of the service's own would be written
  -- again for ever.
  e.kind = 'settle' AND e.unclear AND (locked.suspect_version < e.version OR locked.synced_version < e.version - 1
    OR NOT EXISTS (SELECT FROM rollcall.ledger l WHERE l.key = locked.key AND l.state <> 'failing'
      AND l.desired IS NOT DISTINCT FROM e."desiredDigest")) AS taken_for_yes,
  e.kind = 'settle' AND e."lastAnswer" IS NOT NULL AND locked.unknown AND locked.suspect_version <= e.version
    AND locked.verify_left > 0 AND locked.verify_at IS NULL AS cleared_up`

/** Plain: `unknown` is and stays false. A claim that has made a call settles only with a trusted answer. */
export const LOOKUPS_AFTER = `
  unknown = CASE e.kind
    WHEN 'settle' THEN suspected OR (o.unknown AND NOT known)
    WHEN 'unknown' THEN true ELSE o.unknown END,
  -- A lookup that was requested during the claim keeps what is unknown, and adds nothing.
  hidden_unknown = o.hidden_unknown AND (suspected OR e.kind <> 'settle' OR NOT known),
  status_unknown = o.status_unknown AND (suspected OR NOT CASE e.kind WHEN 'settle' THEN known ELSE e."statusKnown" END),
  verify_left = CASE WHEN may_arrive THEN ${VERIFICATIONS}
    -- That no user is there may be the answer of a gateway, for as long as a deployment takes.
    WHEN taken_for_yes AND e.record->>'remote' = 'absent' THEN ${VERIFICATIONS}
    WHEN taken_for_yes THEN greatest(o.verify_left, 1) WHEN handed_over THEN 0 ELSE o.verify_left END,
  verify_at = CASE WHEN may_arrive OR handed_over THEN NULL WHEN cleared_up THEN now() + ${VERIFY_AFTER}
    WHEN taken_for_yes THEN coalesce(o.verify_at, now() + ${VERIFY_FIRST}) ELSE o.verify_at END`
