// Decides what a check makes of the customer's open finding, if there is one. Pure.
import type { CheckVerdict, DriftField, DriftVerdict, Resolved, Skipped } from './words.ts'

/** A change or a repair that is under way is over soon. */
const SOON_MS = 2000
/** A difference that comes back after so many repairs is one for a person. */
export const MOST_REPAIRS = 3

/** The lag of the service: what was written so lately may not be shown yet. */
export type Lag = { readonly consistencyDelayMs: number }

export function postponedMs({ consistencyDelayMs }: Lag): number {
  return Math.max(consistencyDelayMs, SOON_MS)
}

export type StoredFinding = KeptDrift & {
  readonly id: string
  readonly checks: number
  /** Until its next check; negative: since it was due; null: none was set. */
  readonly nextInMs: number | null
  readonly repairs: number
  /** A write was acknowledged since a repair was owed; and since it was last seen. */
  readonly writtenSinceRepair: boolean
  readonly writtenSinceSeen: boolean
  /** Digest of all that was desired when it was last seen. */
  readonly desiredDigest: string | null
}

type CheckedNow = {
  readonly verdict: CheckVerdict
  /** Fields that the service shows in a form of its own. */
  readonly ownForms: readonly DriftField[]
  readonly desiredDigest: string
}

/** The part of a finding that a check writes. `pending`: shown for the first time by the last check, beside fields of the finding that were shown before. */
export type KeptDrift = DriftVerdict & { readonly pending: readonly DriftField[] }

/**
 * `suspect`: for the first time, or something else than was suspected (`ends`: how what was found before ended);
 * `confirm`: now it is found; `keep`: it was found before. `forget`: a suspicion that is none. `postpone`: nothing can be
 * said now; `wait`: a write may not be shown yet (`kept`: what the finding says); `not-credible`: as long as the service is not credible.
 */
export type FindingStep =
  | { readonly do: 'nothing' | 'forget' | 'postpone' | 'not-credible' }
  | { readonly do: 'wait'; readonly kept: DriftVerdict | null }
  | { readonly do: 'suspect'; readonly drift: KeptDrift; readonly ends: Resolved | null }
  | { readonly do: 'confirm' | 'keep'; readonly drift: KeptDrift }
  | { readonly do: 'resolve'; readonly how: Resolved }

const DO_NOTHING: FindingStep = { do: 'nothing' }

export function isFound({ checks }: Pick<StoredFinding, 'checks'>): boolean {
  return checks >= 2
}

/**
 * One check alone proves no difference: the service may have been about to show a write, or a change was on its way. Each
 * field has to be shown twice.
 */
export function stepFor(open: StoredFinding | null, now: CheckedNow, lag: Lag): FindingStep {
  const { verdict, ownForms, desiredDigest } = now
  if (verdict.kind === 'no-answer') return open ? { do: 'postpone' } : DO_NOTHING
  if (verdict.kind === 'skipped') return open ? afterNoCall(open, verdict.why) : DO_NOTHING
  if (verdict.kind === 'agrees')
    return open ? resolved(open, howRight(open, desiredDigest, ownForms)) : DO_NOTHING
  const { kind, fields, access } = verdict
  // in the example: false at both checks
  if (open && isTooEarly(open, lag))
    return { do: 'wait', kept: isFound(open) || open.kind === kind ? verdictIn(open) : null }
  const ends = open && isFound(open) ? howEnded(open, kind, desiredDigest) : null
  const first = { do: 'suspect', drift: { ...verdict, pending: [] }, ends } as const // the first check of the example
  if (!open || open.kind !== kind) return first
  const known = knownOf(open, access)
  const confirmed = fields.filter((field) => known.has(field)) // second check of the example: email
  if (fields.length > 0 && confirmed.length === 0) return first
  const pending = fields.filter((field) => !known.has(field)) // second check: none
  // Where no field is named, access is about whether the user is there at all.
  const ofAccess = confirmed.length === 0 || confirmed.includes('status')
  const drift = { kind, fields: confirmed, pending, cause: open.cause, access: ofAccess ? access : null }
  return { do: isFound(open) ? 'keep' : 'confirm', drift } // second check: confirm
}

/**
 * The difference may be a write that is not shown yet. A wait longer than the lag has
 * another cause (answers that were not credible, or a clock set back). So this check counts.
 */
function isTooEarly({ checks, repairs, nextInMs }: StoredFinding, lag: Lag): boolean {
  const longestLagMs = postponedMs(lag) * (checks < 2 ? 1 : 2 ** repairs)
  return nextInMs !== null && nextInMs > 0 && nextInMs <= longestLagMs
}

function verdictIn({ kind, fields, cause, access }: DriftVerdict): DriftVerdict {
  return { kind, fields, cause, access }
}

/** Where one check shows a trial in place of full access, and the next one no access, only one has shown the loss. */
function knownOf({ fields, pending, access: before }: StoredFinding, access: DriftVerdict['access']) {
  return new Set([...fields.filter((field) => field !== 'status' || before === access), ...pending])
}

function resolved(open: StoredFinding, how: Resolved): FindingStep {
  return isFound(open) ? { do: 'resolve', how } : { do: 'forget' }
}

/** All that differed may be a form of the service's own by now. */
function howRight(open: StoredFinding, desiredDigest: string, ownForms: readonly DriftField[]): Resolved {
  const formAlone = open.fields.length > 0 && open.fields.every((field) => ownForms.includes(field))
  return formAlone ? 'normalised' : howResolved(open, desiredDigest)
}

/** The customer itself may have changed to what the service shows; else it was our write, or the service. */
function howResolved(open: StoredFinding, desiredDigest: string): Resolved {
  if (open.desiredDigest !== null && open.desiredDigest !== desiredDigest) return 'by-a-change'
  return open.writtenSinceRepair || open.writtenSinceSeen ? 'repaired' : 'by-itself'
}

/** Another kind is suspected now: it is not right again. */
function howEnded(open: StoredFinding, kind: DriftVerdict['kind'], desiredDigest: string): Resolved {
  const how = howResolved(open, desiredDigest)
  return how === 'by-itself' && kind !== open.kind ? 'otherwise' : how
}

const WITHOUT_CALL = {
  changed: 'nothing', // another process is at it, and puts off or confirms what it has seen
  ...({ owed: 'postpone', 'just-written': 'postpone' } as const),
  ...({ held: 'postpone', 'unreadable-row': 'postpone' } as const),
  ...({ discarded: 'accepted', rejected: 'by-a-change', 'not-ours': 'gone' } as const),
} as const satisfies Record<Skipped, Resolved | 'nothing' | 'postpone'>

function afterNoCall(open: StoredFinding, why: Skipped): FindingStep {
  const how = WITHOUT_CALL[why]
  return how === 'nothing' || how === 'postpone' ? { do: how } : resolved(open, how)
}
