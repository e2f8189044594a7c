// The words of checks, as types, lists and conditions: what a GET says of a user, what is kept of it, and how it ends.
import type { CustomerKey } from '../model/customer.ts'
import type { UserField } from '../model/user.ts'
import type { Counts } from '../model/values.ts'

/**
 * `unreadable`: a 2xx that holds no user, or another one. `trial-ended`: status 0 where 4 was acknowledged. The service
 * ends trials, so it is reported, but no total, exit code or repair counts it as drift.
 */
export const DRIFT_KINDS = ['missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended'] as const
export type DriftKind = (typeof DRIFT_KINDS)[number]

/** An ended trial is no mistake, and an answer that cannot be read has no known repair. */
export const REPAIRABLE_KINDS = ['missing', 'differs', 'unexpected-access'] as const satisfies DriftKind[]

/** Why, as far as the records tell. `edited-at-service`: they agreed once, and we have sent nothing since. */
export const DRIFT_CAUSES = [
  'never-delivered',
  'unknown-outcome',
  'edited-at-service',
  'mapping-changed',
  'normalised',
] as const
export type DriftCause = (typeof DRIFT_CAUSES)[number]

/** `lost`: entitled here, without access there. `undue`: access there that the database does not give. */
export const WRONG_ACCESS = ['lost', 'undue'] as const
export type WrongAccess = (typeof WRONG_ACCESS)[number]

export type DriftField = Exclude<UserField, 'user_id' | 'country_code'>

/**
 * Why nothing can be said of a customer now. `changed`: a change came meanwhile, or another process has the row. `not-ours`: there is no
 * user of ours. `unreadable-row`: the row of the customer could not be read.
 */
export const SKIPPED = [
  'owed',
  'just-written',
  'changed',
  'not-ours',
  'rejected',
  'held',
  'discarded',
  'unreadable-row',
] as const
export type Skipped = (typeof SKIPPED)[number]

/**
 * The service did not say how the user is: never drift. `trouble`: 5xx and 408; `error`: a 2xx that reports an error;
 * `denied`: 401, 403; `busy`: 429; `refused`: any other status.
 */
export type NoAnswer = 'unreached' | 'trouble' | 'error' | 'denied' | 'busy' | 'refused'

export type DriftVerdict = {
  readonly kind: DriftKind
  /** In the order of section 2.6; none where the user as a whole is meant. */
  readonly fields: readonly DriftField[]
  /** Null of a trial that ended, and of an answer that cannot be read. */
  readonly cause: DriftCause | null
  /** Null: both sides agree on access, or it is not known. */
  readonly access: WrongAccess | null
}

export type CheckVerdict =
  /**
   * `unverifiable`: a sync would send what no GET shows, and nothing else. `absent`: there is no such user and none is wanted,
   * though one was remembered (`gone`) or as was known.
   */
  | { readonly kind: 'agrees'; readonly unverifiable?: boolean; readonly absent?: 'known' | 'gone' }
  | DriftVerdict
  | { readonly kind: 'skipped'; readonly why: Exclude<Skipped, 'held'> }
  /** `access`: what is wrong with it meanwhile, as far as is known without a call. */
  | { readonly kind: 'skipped'; readonly why: 'held'; readonly access: WrongAccess | null }
  | { readonly kind: 'no-answer'; readonly why: NoAnswer }

export function isDrift(verdict: CheckVerdict): verdict is DriftVerdict {
  return (DRIFT_KINDS as readonly string[]).includes(verdict.kind)
}

/**
 * How a finding ended. `repaired`: the service has acknowledged a write since; `by-itself`: the service shows the right
 * thing again; `otherwise`: it shows another wrong one; `by-a-change`: the customer has changed since; `accepted`: a
 * person discarded a change of the customer; `normalised`: the form is the service's own; `gone`: there is nothing left to check.
 */
export const RESOLVED = [
  'repaired',
  'by-itself',
  'otherwise',
  'by-a-change',
  'accepted',
  'normalised',
  'gone',
] as const
export type Resolved = (typeof RESOLVED)[number]

/** A difference that a second check has confirmed. Times are ISO 8601 in UTC. */
export type Finding = DriftVerdict & {
  readonly id: string
  readonly key: CustomerKey
  readonly userId: string | null
  readonly firstSeen: string
  readonly lastSeen: string
  /** GETs that showed it. */
  readonly checks: number
  /** Times that a repair of it was owed. */
  readonly repairs: number
  readonly resolvedAt: string | null
  readonly resolvedHow: Resolved | null
  /** The brake holds the customer now, so that no repair is owed. */
  readonly held: boolean
}

/** A field on both sides, as it is: for people who asked to see values, never stored. */
export type Shown = { readonly field: DriftField; readonly here: unknown; readonly service: unknown }

export type Checked = {
  readonly key: CustomerKey
  readonly verdict: CheckVerdict
  /** `found` once a second check has shown it; `suspected` before. */
  readonly findingState: 'suspected' | 'found' | null
  /** The id of the row in `rollcall.finding` that is open now, or was resolved by this check. */
  readonly findingId: string | null
  readonly resolved: Resolved | null
  /** In how many milliseconds its next check is due. */
  readonly nextInMs: number | null
  /** It differs in more fields that this check alone has shown. */
  readonly more: boolean
  /** A repair would help, and was not owed too often. */
  readonly repairable: boolean
  /** A repair was owed because of it. */
  readonly repairing: boolean
  /** The fields that differ, and the status of an unexpected access; empty where there is no user to show. */
  readonly shown: readonly Shown[]
}

/** Why the answers of a run are not credible: the service knows few users, answers unclearly, or refuses our keys. */
export const NOT_CREDIBLE = ['many-missing', 'no-answers', 'denied'] as const
export type NotCredible = (typeof NOT_CREDIBLE)[number]

/** Why checks or a run end early. `asked`: a person or a signal; `pace`: calls are stopped for all processes. */
export const STOP_REASONS = ['asked', 'pace'] as const
export type Stopped = (typeof STOP_REASONS)[number]

/** Counts of one run; each customer counts once. */
export type DriftTally = {
  /** Checked with a clear answer: `agrees` and drift. */
  readonly checked: number
  readonly agrees: number
  /** Customers that agree but would be sent a field that no GET shows. */
  readonly unverifiable: number
  /** Users who were there once, and are not: many of them say something of the service. */
  readonly vanished: number
  readonly kinds: Counts<DriftKind>
  /** Access, causes and fields: of drift, without ended trials. Access also of customers who are held. */
  readonly access: Counts<WrongAccess>
  /** Customers among these that the brake holds. */
  readonly heldAccess: Counts<WrongAccess>
  readonly causes: Counts<DriftCause>
  readonly fields: Counts<DriftField>
  readonly skipped: Counts<Skipped>
  readonly noAnswer: Counts<NoAnswer>
}

// Conditions of statements: over `l`, a row of the ledger, and over `f`, a finding.

/** A customer never registered has no user of ours; one rejected, held or discarded differs for a reason that is known. */
export const CHECKABLE = `l.remote <> 'unasked' AND l.state IN ('idle', 'failing')`

/** The last GET with a clear answer; of syncs as far as they agreed. A time of the future is one of before the clock was set back. */
export const CHECKED_AT = `greatest(CASE WHEN l.checked_at <= clock_timestamp() THEN l.checked_at END,
  CASE WHEN l.verified_at <= clock_timestamp() THEN l.verified_at END)`

/** Over a finding (`f`): two checks have shown it, and it is open. */
export const CONFIRMED = 'f.checks >= 2 AND f.resolved_at IS NULL'
