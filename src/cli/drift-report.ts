import type { RunEnd } from '../drift/gate.ts'
import type { Past } from '../drift/runs.ts'
import type { DriftTally } from '../drift/words.ts'
import { agreementOf, conclude, driftingOf } from '../report/conclude.ts'
import { estimate } from '../report/estimate.ts'
import { percent } from '../report/figures.ts'
import type { Estimate, PastRun, Report, ReportOptions, RunOutcome } from '../report/report.ts'
import type { DriftAsked } from './drift-options.ts'
import type { ExitCode } from './io.ts'

export function optionsOf(asked: DriftAsked): ReportOptions {
  return {
    from: asked.fromLedger ? 'ledger' : 'service',
    sample: asked.sample,
    where: asked.where.length === 0 ? null : asked.where.join(' and '),
    rate: asked.rate,
    maxDrift: asked.maxDrift,
    values: asked.showValues,
  }
}

/** `resume`: the command that goes on with it. */
export function outcomeOf(end: Exclude<RunEnd, { kind: 'refused' }>, resume: string): RunOutcome {
  return end.kind === 'stopped' ? { ...end, resume } : end
}

/** What a look can say nothing of by itself, however long one waits. */
const OUTSIDE = ['not-ours', 'rejected', 'discarded', 'unreadable-row'] as const

/**
 * Of a sample: the share of those of whom something can be said, for as many as there are of them in all. How many that
 * is the sample tells too: whoever has no user of ours cannot drift.
 */
export function estimateOf(tally: DriftTally, population: number, done: number): Estimate {
  const outside = OUTSIDE.reduce((sum, why) => sum + (tally.skipped[why] ?? 0), 0)
  const within = done === 0 ? population : Math.round((population * (done - outside)) / done)
  const { known, disagree } = agreementOf(tally)
  return estimate({ population: Math.max(known, within), checked: known, drifting: disagree })
}

export function trendOf(past: readonly Past[]): PastRun[] {
  return past.map(({ tally, ...run }) => ({
    ...run,
    kind: 'run',
    checked: tally.checked,
    drifting: run.credible ? driftingOf(tally) : null,
  }))
}

/** 3 is for a report that went to its end: what stopped, or cannot be believed, has found nothing out. */
export function exitFor(report: Report): ExitCode {
  if (report.outcome.kind === 'stopped') return 1
  const conclusion = conclude(report)
  switch (conclusion) {
    case 'agrees':
    case 'tolerated':
      return 0
    case 'drift':
      return 3
    case 'incomplete':
    case 'unchecked':
    case 'not-credible':
      return 1
    default:
      return conclusion satisfies never
  }
}

/** A check that passes on a small sample must not look like one that could have failed. */
export function warningOf(report: Report): string | null {
  const { estimate, options } = report
  const limit = options.maxDrift
  if (estimate === null || limit === null || exitFor(report) !== 0 || estimate.high <= limit) return null
  return (
    `warning: the sample is too small to rule out more than ${percent(limit)}: the true share may be up to ` +
    `${percent(estimate.high)}; a larger --sample tells`
  )
}
