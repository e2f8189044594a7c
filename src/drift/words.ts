// The words of verification: what a look at a user says, what is kept of it, and how it ends. Types and lists alone.
import type { CustomerKey } from '../model/customer.ts'
import type { UserField } from '../model/user.ts'

/**
 * How the service disagrees while nothing is owed. `unreadable`: a 2xx that holds no user, or another one. `trial-ended`:
 * status 0 where 4 was agreed on; told apart because the service ends trials, and a GET does not tell whether it did or
 * somebody there: it is counted, and is no drift to a total, an exit code or a repair.
 */
export const DRIFT_KINDS = ['missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended'] as const
export type DriftKind = (typeof DRIFT_KINDS)[number]

/** What is repaired: an ended trial is no mistake, and of what cannot be read nobody knows what would mend it. */
export const REPAIRABLE_KINDS = ['missing', 'differs', 'unexpected-access'] as const satisfies DriftKind[]

export function isRepairable(kind: CheckVerdict['kind']): boolean {
  return (REPAIRABLE_KINDS as readonly string[]).includes(kind)
}

/** Why, as far as the records tell. `edited-at-service`: they agreed once, and we have sent nothing since. */
export const DRIFT_CAUSES = [
  'never-delivered',
  'unknown-outcome',
  'edited-at-service',
  'mapping-changed',
  'normalised',
] as const
export type DriftCause = (typeof DRIFT_CAUSES)[number]

/**
 * Where a difference is about access, which way it goes. `lost`: the customer should be entitled, and has no access there;
 * `undue`: there is access that the database does not give. Somebody shut out, and somebody let in at your cost, are what
 * a report is read for first.
 */
export const WRONG_ACCESS = ['lost', 'undue'] as const
export type WrongAccess = (typeof WRONG_ACCESS)[number]

/** A field that a GET can show, and the status. */
export type DriftField = Exclude<UserField, 'user_id' | 'country_code'>

/**
 * Why nothing can be said of a customer now. `moved`: a change came while the GET was under way. `not-ours`: there is no
 * user of ours to look at. `unreadable-row`: Postgres refuses to read the customer.
 */
export const SKIPPED = [
  'owed',
  'just-settled',
  'moved',
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
const NO_ANSWERS = ['unreached', 'trouble', 'error', 'denied', 'busy', 'refused'] as const
export type NoAnswer = (typeof NO_ANSWERS)[number]

/** How a user disagrees. */
export type DriftVerdict = {
  readonly kind: DriftKind
  /** In the order of section 2.6; none where the user as a whole is meant. */
  readonly fields: readonly DriftField[]
  /** Null of a trial that ended: nobody is to blame for it. */
  readonly cause: DriftCause | null
  /** Null: both sides agree on access, or nobody knows. */
  readonly access: WrongAccess | null
}

/** What one verification says. */
export type CheckVerdict =
  /**
   * `hidden`: a sync would send what no GET shows, and nothing else. `nobody`: there is no such user and none is wanted,
   * though one was remembered (`gone`) or as was known: so would a service say that knows nobody.
   */
  | { readonly kind: 'agrees'; readonly hidden?: boolean; readonly nobody?: 'known' | 'gone' }
  | DriftVerdict
  | { readonly kind: 'skipped'; readonly why: Exclude<Skipped, 'held'> }
  /** `access`: what is wrong with it meanwhile, as far as is known without a look. */
  | { readonly kind: 'skipped'; readonly why: 'held'; readonly access: WrongAccess | null }
  | { readonly kind: 'no-answer'; readonly why: NoAnswer }

export function isDrift(verdict: CheckVerdict): verdict is DriftVerdict {
  return (DRIFT_KINDS as readonly string[]).includes(verdict.kind)
}

/**
 * How a finding ended. `repaired`: a claim that rollcall owed because of it brought it right; `by-itself`: the service
 * shows the right thing again; `otherwise`: it shows another wrong one; `by-a-change`: the customer has changed since;
 * `accepted`: a person discarded the difference; `normalised`: the form is the service's own; `gone`: there is nothing
 * left to look at.
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

/** A difference that a second look has confirmed, or (`looks` 1) one that waits for it. Times are ISO 8601 in UTC. */
export type Finding = DriftVerdict & {
  readonly id: string
  readonly key: CustomerKey
  readonly userId: string | null
  readonly firstSeen: string
  readonly lastSeen: string
  /** GETs that showed it; below 2 it is only suspected. */
  readonly looks: number
  /** Times that a repair of it was owed. */
  readonly repairs: number
  readonly resolvedAt: string | null
  readonly resolvedHow: Resolved | null
}

/** A field on both sides, as it is: for people who asked to see values, never stored. */
export type Shown = { readonly field: DriftField; readonly here: unknown; readonly service: unknown }

/** What became of one customer that was to be verified. */
export type Verified = {
  readonly key: CustomerKey
  readonly userId: string | null
  readonly verdict: CheckVerdict
  /** Where the verdict is a drift: whether an earlier look has shown it already. */
  readonly standing: 'suspected' | 'found' | null
  /** The id of the finding that is open now, or was resolved by this look. */
  readonly findingId: string | null
  readonly resolved: Resolved | null
  /** In how many milliseconds the second look is due that a suspicion waits for. */
  readonly lookAgainInMs: number | null
  /** It differs in fields besides that this look alone has shown: the next one may say more. */
  readonly more: boolean
  /** A repair was owed because of it. */
  readonly repairing: boolean
  /** The fields that differ, and the status of whoever has unexpected access; empty where there is no user to show. */
  readonly shown: readonly Shown[]
}

/**
 * What the answers of a whole run say of the service, rather than of its users: it says that it knows few or none of them,
 * it answers hardly anything clearly, or it refuses our keys.
 */
export const DOUBTS = ['nobody-there', 'no-answers', 'denied'] as const
export type Doubt = (typeof DOUBTS)[number]

/** Why a run ends before its end. `asked`: a person or a signal; `pace`: calls are stopped for everybody. */
export const STOP_REASONS = ['asked', 'pace'] as const
export type Stopped = (typeof STOP_REASONS)[number]

/** Counts of one run; each customer counts once. */
export type DriftTally = {
  /** Whoever was looked at with a clear answer: `agrees` and drift. */
  readonly checked: number
  readonly agrees: number
  /** Of those who agree, who would be sent what no GET shows. */
  readonly hidden: number
  /** Who was there once, and is not: many of them say something of the service. */
  readonly vanished: number
  readonly kinds: Readonly<Partial<Record<DriftKind, number>>>
  /** Of drift, as the causes and the fields: a trial that ended is in none of the three; and of whoever is held. */
  readonly access: Readonly<Partial<Record<WrongAccess, number>>>
  /** Of these, those whom the brake holds. */
  readonly heldAccess: Readonly<Partial<Record<WrongAccess, number>>>
  readonly causes: Readonly<Partial<Record<DriftCause, number>>>
  readonly fields: Readonly<Partial<Record<DriftField, number>>>
  readonly skipped: Readonly<Partial<Record<Skipped, number>>>
  readonly noAnswer: Readonly<Partial<Record<NoAnswer, number>>>
}
