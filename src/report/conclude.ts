import { RESOLVED, type Resolved, type Tally } from '../drift/words.ts'
import type { Report } from './report.ts'

/** Customers who count as drift: a trial that ended does not, since that is how trials go. */
export function driftingOf({ kinds }: Pick<Tally, 'kinds'>): number {
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

/** `unchecked`: there are customers, and of most of them nothing could be said now. */
export const CONCLUSIONS = [
  'agrees',
  'tolerated',
  'drift',
  'incomplete',
  'unchecked',
  'not-credible',
] as const
export type Conclusion = (typeof CONCLUSIONS)[number]

/**
 * What a report says as a whole; its headline and the exit code rest on it. Drift that was found stays found when the
 * run was stopped later on, while "agrees" takes a run that went to its end. A limit is held against the share among
 * those who were checked, of a sample against its estimate, not against the ends of the interval: a check that fails
 * on chance alone is soon ignored.
 */
export function conclude({
  outcome,
  counts,
  options,
  chosen,
}: Pick<Report, 'outcome' | 'counts' | 'options' | 'chosen'>): Conclusion {
  const share = shareOf(driftingOf(counts), counts.checked)
  switch (outcome.kind) {
    case 'not-credible':
      return 'not-credible'
    case 'complete':
    case 'stopped':
      if (share !== null && share > (options.maxDrift ?? 0)) return 'drift'
      if (outcome.kind === 'stopped') return 'incomplete'
      if (chosen > 0 && (share === null || notNow(counts) > counts.checked)) return 'unchecked'
      return share ? 'tolerated' : 'agrees'
    default:
      return outcome satisfies never
  }
}

/** Passed over for now: something is owed to them (does a worker run?), or the service gave no clear answer. */
export function notNow({ skipped, noAnswer }: Pick<Tally, 'skipped' | 'noAnswer'>): number {
  const { owed = 0, 'just-settled': settled = 0, moved = 0 } = skipped
  return owed + settled + moved + Object.values(noAnswer).reduce((sum, count) => sum + count, 0)
}
