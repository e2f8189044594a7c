// A report of drift from what a run, or the ledger, has found; and the exit code that it ends with.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { readVerification } from '../drift/coverage.ts'
import { readKnownOfAll, readOpenFound } from '../drift/found.ts'
import { readPast, readTime } from '../drift/runs.ts'
import type { DriftTally } from '../drift/words.ts'
import { boundOrigin } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { agreementOf, conclude, driftingOf } from '../report/conclude.ts'
import { estimate } from '../report/estimate.ts'
import { percent } from '../report/figures.ts'
import type { Estimate, PastRun, Report } from '../report/report.ts'
import { namedService } from '../service/address.ts'
import type { DriftAsked } from './drift-options.ts'
import { type ExitCode, VERSION } from './io.ts'

export function headOf({ config, asked, origin }: { config: Config; asked: DriftAsked; origin: string }) {
  return {
    version: 1 as const,
    writtenBy: VERSION,
    target: namedService(origin, config),
    options: {
      from: asked.fromLedger ? ('ledger' as const) : ('service' as const),
      sample: asked.sample,
      where: asked.where.length === 0 ? null : asked.where.join(' and '),
      rate: asked.rate,
      maxDrift: asked.maxDrift,
      values: asked.showValues,
    },
  }
}

/** The open findings of workers and runs, without a call: only Postgres is asked. */
export async function ledgerReport(pool: Pool, config: Config, asked: DriftAsked): Promise<Report> {
  const origin = await boundOrigin(pool)
  if (origin === null) throw new RollcallError('DRIFT_TOO_EARLY', ['no worker has run on this database yet'])
  const { periodMs } = config.reconcile
  const findings = await readOpenFound(pool)
  const { tally, ...known } = await readKnownOfAll(pool, findings, periodMs)
  const { coverage, notCredible } = await readVerification(pool, periodMs)
  const now = await readTime(pool)
  const { customers, within, oldestAgeMs } = coverage
  const oldest = oldestAgeMs === null ? null : new Date(Date.parse(now) - oldestAgeMs).toISOString()
  const share = customers === 0 ? 1 : within / customers
  return {
    ...headOf({ config, asked, origin }),
    ...{ startedAt: now, endedAt: now },
    outcome: notCredible ? { kind: 'not-credible', why: 'many-missing' } : { kind: 'complete' },
    ...known,
    counts: tally,
    ...{ foundLater: null, estimate: null, repair: null },
    // Where workers check no customer there is no time within which they would.
    coverage: coverage.periodMs === null ? null : { periodMs: coverage.periodMs, share, oldest },
    trend: await readTrend(pool, null),
    findings: findings.map((finding) => ({ ...finding, shown: [] })),
  }
}

/** Cases that no check can decide, however long it waits. */
const OUTSIDE = ['not-ours', 'rejected', 'discarded', 'unreadable-row'] as const

/**
 * Estimates from a sample the share of drift among all customers that can be judged. Their number
 * follows from the sample too: a customer without a user of ours cannot drift.
 */
export function estimateOf(tally: DriftTally, population: number, done: number): Estimate {
  const outside = OUTSIDE.reduce((sum, why) => sum + (tally.skipped[why] ?? 0), 0)
  const within = done === 0 ? population : Math.round((population * (done - outside)) / done)
  const { known, disagree } = agreementOf(tally)
  return estimate({ population: Math.max(known, within), checked: known, drifting: disagree })
}

export async function readTrend(pool: Pool, without: string | null): Promise<PastRun[]> {
  return (await readPast(pool, without)).map(({ tally, ...run }) => ({
    ...run,
    kind: 'run',
    checked: tally.checked,
    drifting: run.credible ? driftingOf(tally) : null,
  }))
}

/** 3 is for a report that went to its end: one that stopped, or is not credible, has found nothing out. */
export function exitFor(report: Report): ExitCode {
  if (report.outcome.kind === 'stopped') return 1
  const conclusion = conclude(report)
  if (conclusion === 'drift') return 3
  return conclusion === 'agrees' || conclusion === 'tolerated' ? 0 : 1
}

/** A check that passes on a small sample must not look like one that could have failed. */
export function warningOf(report: Report): string | null {
  const { estimate, options } = report
  const limit = options.maxDrift
  if (estimate === null || limit === null || exitFor(report) !== 0 || estimate.high <= limit) return null
  return (
    `warning: the sample is too small to rule out more than ${percent(limit)}: the true drift ratio may be up to ` +
    `${percent(estimate.high)}; use a larger --sample`
  )
}
