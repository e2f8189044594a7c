// Conclusions from the figures of a report: every format says these, and none counts for itself.
import { totalOf } from '../drift/tally.ts'
import { type DriftTally, RESOLVED, type Resolved, WRONG_ACCESS } from '../drift/words.ts'
import type { Counts } from '../model/values.ts'
import type { Report } from './report.ts'
import { ACCESS, renderAmongHeld } from './words.ts'

/** The counts that are not 0, the most first. */
export function mostFirst<Word extends string>(counts: Counts<Word>): [Word, number][] {
  const entries = (Object.entries(counts) as [Word, number][]).filter(([, count]) => count > 0)
  return entries.sort(([, one], [, other]) => other - one)
}

/** Customers that a check has shown to differ: an ended trial does not count, since that is how trials go. */
export function driftingOf({ kinds }: Pick<DriftTally, 'kinds'>): number {
  const { missing = 0, differs = 0, unreadable = 0, 'unexpected-access': access = 0 } = kinds
  return missing + differs + unreadable + access
}

/** The customers that lack access and those that should not have it, in words. */
export function wrongAccess({ access, heldAccess }: Pick<DriftTally, 'access' | 'heldAccess'>) {
  return WRONG_ACCESS.flatMap((which) => {
    const { [which]: many = 0 } = access
    const means = ACCESS[which].means + renderAmongHeld(heldAccess[which] ?? 0, many)
    return many === 0 ? [] : { which, many, means }
  })
}

/** Findings that are over by the time the report is written, by how they ended: they were found all the same. */
export function resolvedOf({ findings }: Pick<Report, 'findings'>): Counts<Resolved> {
  const countOf = (how: Resolved) => findings.filter(({ resolvedHow }) => resolvedHow === how).length
  const counts = RESOLVED.map((how) => [how, countOf(how)] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** A share of the checked customers; null where there was none. */
export function shareOf(part: number, checked: number): number | null {
  return checked === 0 ? null : part / checked
}

/**
 * A customer that the brake holds is not checked, and is held because the service does not have what the database wants.
 * A report without them would call agreed what `rollcall status` calls drift.
 */
export function agreementOf(counts: Pick<DriftTally, 'checked' | 'kinds' | 'skipped'>) {
  const { held = 0 } = counts.skipped
  return {
    /** The number of customers of which it is known whether the service holds what the database wants. */
    known: counts.checked + held,
    /** How many of them do not agree: they differ, or are held. */
    disagree: driftingOf(counts) + held,
    held,
  }
}

/** `unchecked`: there is no customer to check, or of most of them nothing could be said. */
export type Conclusion = 'agrees' | 'tolerated' | 'drift' | 'incomplete' | 'unchecked' | 'not-credible'

/**
 * The conclusion of a report; its headline and the exit code rest on it. Drift stays found when the run was stopped
 * later on. "Agrees" takes a run that went to its end, and a checked customer: a condition with a typing error
 * must not pass. A limit is held against the share of a sample, not the ends of its interval: a check that fails on
 * chance alone is soon ignored.
 */
export function conclude(report: Pick<Report, 'outcome' | 'counts' | 'suspected' | 'options'>): Conclusion {
  const { outcome, counts, suspected, options } = report
  if (outcome.kind === 'not-credible') return 'not-credible'
  const { known, disagree } = agreementOf(counts)
  const limit = options.maxDrift ?? 0
  const share = shareOf(disagree, known)
  if (share !== null && share > limit) return 'drift'
  if (outcome.kind === 'stopped') return 'incomplete'
  if (share === null || leftOpen({ counts, suspected }) > known) return 'unchecked'
  // A run has checked the suspected again and again; workers have not come to it yet.
  const atWorst = (disagree + suspected) / (known + suspected)
  if (options.from === 'service' && atWorst > limit) return 'unchecked'
  return share > 0 ? 'tolerated' : 'agrees'
}

/**
 * Customers about which it stays open whether the service agrees. Neither the discarded, since a person has accepted the
 * difference, nor those without a user of ours.
 */
export function leftOpen({ counts, suspected }: Pick<Report, 'counts' | 'suspected'>): number {
  const { rejected = 0, 'unreadable-row': unreadable = 0 } = counts.skipped
  return notNow(counts) + rejected + unreadable + suspected
}

/** Passed over for now: something is owed to them (does a worker run?), or the service gave no clear answer. */
export function notNow(counts: Pick<DriftTally, 'skipped' | 'noAnswer'>): number {
  const { owed = 0, 'just-written': settled = 0, changed = 0 } = counts.skipped
  return owed + settled + changed + totalOf(counts.noAnswer)
}
