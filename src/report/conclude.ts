import { silentOf } from '../drift/tally.ts'
import { type DriftTally, RESOLVED, type Resolved } from '../drift/words.ts'
import type { Report } from './report.ts'

/** Customers whom a look has shown to differ: a trial that ended does not count, since that is how trials go. */
export function driftingOf({ kinds }: Pick<DriftTally, 'kinds'>): number {
  const { missing = 0, differs = 0, unreadable = 0, 'unexpected-access': access = 0 } = kinds
  return missing + differs + unreadable + access
}

/** Findings of a report that are over by the time it is written, by how they ended: they were found all the same. */
export function resolvedOf({
  findings,
}: Pick<Report, 'findings'>): Readonly<Partial<Record<Resolved, number>>> {
  const counts = RESOLVED.map(
    (how) => [how, findings.filter(({ resolvedHow }) => resolvedHow === how).length] as const,
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** Of those who were checked; null where nobody was. */
export function shareOf(part: number, checked: number): number | null {
  return checked === 0 ? null : part / checked
}

type Agreement = {
  /** Of so many it is known whether the service holds what the database wants. */
  readonly known: number
  /** Of them those with whom it does not: they differ, or are held. */
  readonly disagree: number
  /** Of them those whom the brake holds: nobody looks at them. */
  readonly held: number
}

/**
 * Whoever the brake holds is not looked at, and is known not to have at the service what the database wants for them:
 * that is what they are held for. A report that left them out would call agreed what `rollcall status` calls drift.
 */
export function agreementOf(counts: Pick<DriftTally, 'checked' | 'kinds' | 'skipped'>): Agreement {
  const { held = 0 } = counts.skipped
  return { known: counts.checked + held, disagree: driftingOf(counts) + held, held }
}

/** `unchecked`: there is nobody to check, or of most of them nothing could be said. */
export type Conclusion = 'agrees' | 'tolerated' | 'drift' | 'incomplete' | 'unchecked' | 'not-credible'

/**
 * What a report says as a whole; its headline and the exit code rest on it. Drift that was found stays found when the
 * run was stopped later on, while "agrees" takes a run that went to its end. A limit is held against the share among
 * those of whom it is known, of a sample against its estimate, not against the ends of the interval: a check that fails
 * on chance alone is soon ignored. Where nobody is chosen nothing was checked: a condition with a typing error must not
 * make a check pass.
 */
export function conclude({
  outcome,
  counts,
  suspected,
  options,
}: Pick<Report, 'outcome' | 'counts' | 'suspected' | 'options'>): Conclusion {
  const { known, disagree } = agreementOf(counts)
  const share = shareOf(disagree, known)
  switch (outcome.kind) {
    case 'not-credible':
      return 'not-credible'
    case 'complete':
    case 'stopped':
      if (share !== null && share > (options.maxDrift ?? 0)) return 'drift'
      if (outcome.kind === 'stopped') return 'incomplete'
      if (share === null || leftOpen({ counts, suspected }) > known) return 'unchecked'
      // A run has looked at them again and again; workers have not come to it yet.
      if (
        options.from === 'service' &&
        (disagree + suspected) / (known + suspected) > (options.maxDrift ?? 0)
      )
        return 'unchecked'
      return share ? 'tolerated' : 'agrees'
    default:
      return outcome satisfies never
  }
}

/**
 * Customers of whom it stays open whether the service agrees. Whoever was discarded is none of them, since a person has
 * accepted the difference; nor is who has no user of ours, since there is nothing to agree.
 */
export function leftOpen({ counts, suspected }: Pick<Report, 'counts' | 'suspected'>): number {
  const { rejected = 0, 'unreadable-row': unreadable = 0 } = counts.skipped
  return notNow(counts) + rejected + unreadable + suspected
}

/** Passed over for now: something is owed to them (does a worker run?), or the service gave no clear answer. */
export function notNow(counts: Pick<DriftTally, 'skipped' | 'noAnswer'>): number {
  const { owed = 0, 'just-settled': settled = 0, moved = 0 } = counts.skipped
  return owed + settled + moved + silentOf(counts)
}
