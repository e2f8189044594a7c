// What a look makes of the finding that is open for a customer, if there is one. Pure.

import type { Compared } from './compare.ts'
import type { DriftField, DriftVerdict, NoAnswer, Resolved, Skipped } from './words.ts'

/** A change or a repair that is under way is over soon. */
const SOON_MS = 2000
/** A difference that comes back after so many repairs is one for a person. */
export const MOST_REPAIRS = 3

export type Lag = { readonly consistencyDelayMs: number }

/** Never sooner than the service may lag. */
export function secondLookMs({ consistencyDelayMs }: Lag): number {
  return consistencyDelayMs
}

export function postponedMs({ consistencyDelayMs }: Lag): number {
  return Math.max(consistencyDelayMs, SOON_MS)
}

/**
 * What is set for somebody whose difference may be a write that is not shown yet: a look before that says nothing. A later
 * time is one for workers (answers that nobody believed), or one of before the clock was set back: it keeps no other look
 * from counting.
 */
function longestLagMs({ looks, repairs }: { readonly looks: number; readonly repairs: number }, lag: Lag) {
  return postponedMs(lag) * (looks < 2 ? 1 : 2 ** repairs)
}

/** A finding that is open, as it is stored. */
export type StoredFinding = DriftVerdict & {
  readonly id: string
  /** Shown for the first time by the last look. */
  readonly pending: readonly DriftField[]
  readonly looks: number
  /** Until its next look; negative: since it was due; null: none was set. */
  readonly nextInMs: number | null
  readonly repairs: number
  /** A write was acknowledged since a repair was owed; and since it was last seen. */
  readonly writtenSinceRepair: boolean
  readonly writtenSinceSeen: boolean
  /** Digest of all that was desired when it was last seen. */
  readonly desired: string | null
}

/** What a look has shown; `left`: none was made; `no-answer`: it has shown nothing. */
export type CheckResult =
  | {
      readonly kind: 'seen'
      readonly compared: Compared
      /** Fields that the service shows in a form of its own. */
      readonly ownForms: readonly DriftField[]
      readonly desired: string
    }
  | { readonly kind: 'left'; readonly why: Skipped }
  | { readonly kind: 'no-answer'; readonly why: NoAnswer }

/** The part of a finding that a look writes. */
export type Told = DriftVerdict & {
  readonly pending: readonly DriftField[]
}

/**
 * `suspect`: for the first time, or something else than was suspected; `confirm`: now it is found; `keep`: it was found
 * before. `forget`: a suspicion that is none. `postpone`: nothing can be said now; `wait`: it is too early to; `doubt`: as
 * long as the service says it of most. `ends`:
 * how a finding of something else ended that was open until now.
 */
export type FindingStep =
  | { readonly do: 'nothing' | 'forget' | 'postpone' | 'wait' | 'doubt' }
  | { readonly do: 'suspect'; readonly told: Told; readonly ends: Resolved | null }
  | { readonly do: 'confirm' | 'keep'; readonly told: Told }
  | { readonly do: 'resolve'; readonly how: Resolved }

const NOTHING: FindingStep = { do: 'nothing' }

export function isFound({ looks }: Pick<StoredFinding, 'looks'>): boolean {
  return looks >= 2
}

/**
 * Nothing is said of a difference that one look alone has shown: the service may have been about to show a write, or to
 * be asked by a change that was on its way. Each field has to be shown twice; what the first look has shown of others
 * says nothing of them.
 */
export function stepFor(open: StoredFinding | null, looked: CheckResult, lag: Lag): FindingStep {
  if (looked.kind !== 'seen') {
    if (!open) return NOTHING
    return looked.kind === 'left' ? afterNoLook(open, looked.why) : { do: 'postpone' }
  }
  const { compared, ownForms, desired } = looked
  if (compared.kind === 'agrees') {
    if (!open) return NOTHING
    return isFound(open) ? resolved(howRight(open, desired, ownForms)) : { do: 'forget' }
  }
  const { kind, fields, access } = compared
  const ends = open && isFound(open) ? howEnded(open, kind, desired) : null
  const first = { do: 'suspect', told: { ...compared, pending: [] }, ends } as const
  const inMs = open?.nextInMs ?? 0
  if (open && inMs > 0 && inMs <= longestLagMs(open, lag)) return { do: 'wait' }
  if (!open || open.kind !== kind) return first
  const known = knownOf(open, access)
  const confirmed = fields.filter((field) => known.has(field))
  if (fields.length > 0 && confirmed.length === 0) return first
  const pending = fields.filter((field) => !known.has(field))
  const told = { kind, fields: confirmed, pending, cause: open.cause }
  // Where no field is named it is the user as a whole who is there or not.
  const ofAccess = confirmed.length === 0 || confirmed.includes('status')
  return { do: isFound(open) ? 'keep' : 'confirm', told: { ...told, access: ofAccess ? access : null } }
}

/** Where one look has shown a trial in place of full access, and the next one no access, only one has shown the loss. */
function knownOf(
  { fields, pending, access: before }: StoredFinding,
  access: DriftVerdict['access'],
): ReadonlySet<DriftField> {
  const same = fields.filter((field) => field !== 'status' || before === access)
  return new Set([...same, ...pending])
}

function resolved(how: Resolved): FindingStep {
  return { do: 'resolve', how }
}

/** All that differed may be a form of the service's own by now. */
function howRight(open: StoredFinding, desired: string, ownForms: readonly DriftField[]): Resolved {
  const formAlone = open.fields.length > 0 && open.fields.every((field) => ownForms.includes(field))
  return formAlone ? 'normalised' : howResolved(open, desired)
}

/** The customer itself may have changed to what the service shows; else it was our write, or the service. */
function howResolved(open: StoredFinding, desired: string): Resolved {
  if (open.desired !== null && open.desired !== desired) return 'by-a-change'
  return open.writtenSinceRepair || open.writtenSinceSeen ? 'repaired' : 'by-itself'
}

/** Of one that something of another kind is suspected of now: it is not right again. */
function howEnded(open: StoredFinding, kind: DriftVerdict['kind'], desired: string): Resolved {
  const how = howResolved(open, desired)
  return how === 'by-itself' && kind !== open.kind ? 'otherwise' : how
}

function afterNoLook(open: StoredFinding, why: Skipped): FindingStep {
  switch (why) {
    // Somebody else is at it, and puts off or confirms what they were told.
    case 'moved':
      return NOTHING
    case 'owed':
    case 'just-settled':
    case 'held':
    case 'unreadable-row':
      return { do: 'postpone' }
    case 'discarded':
      return isFound(open) ? resolved('accepted') : { do: 'forget' }
    case 'rejected':
      return isFound(open) ? resolved('by-a-change') : { do: 'forget' }
    case 'not-ours':
      return isFound(open) ? resolved('gone') : { do: 'forget' }
    default:
      return why satisfies never
  }
}
