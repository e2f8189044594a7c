import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { readVerification, type VerificationReport } from '../drift/coverage.ts'
import { readKnownOfAll, readOpenFound } from '../drift/found.ts'
import { readPast, readTime } from '../drift/runs.ts'
import { boundOrigin } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import type { Report, ReportCoverage } from '../report/report.ts'
import { namedService } from '../service/target.ts'
import type { DriftAsked } from './drift-options.ts'
import { optionsOf, trendOf } from './drift-report.ts'
import { VERSION } from './version.ts'

/** What workers and runs have found and is open, without a call: Postgres alone is asked. */
export async function ledgerReport(
  pool: Pool,
  { config, asked }: { readonly config: Config; readonly asked: DriftAsked },
): Promise<Report> {
  const origin = await boundOrigin(pool)
  if (origin === null) throw new RollcallError('DRIFT_TOO_EARLY', ['no worker has run on this database yet'])
  const { periodMs } = config.reconcile
  const findings = await readOpenFound(pool)
  const { tally, ...known } = await readKnownOfAll(pool, findings, periodMs)
  const verification = await readVerification(pool, periodMs)
  const now = await readTime(pool)
  // What was told by others before, or since, can be believed all the same.
  const doubt = findings.length === 0 && verification.doubt !== null
  return {
    version: 1,
    writtenBy: VERSION,
    target: namedService(origin, config),
    startedAt: now,
    endedAt: now,
    options: optionsOf(asked),
    outcome: doubt ? { kind: 'not-credible', why: 'nobody-there' } : { kind: 'complete' },
    ...known,
    counts: tally,
    foundLater: null,
    estimate: null,
    coverage: coverageOf(verification, now),
    repair: null,
    trend: trendOf(await readPast(pool, null)),
    findings: findings.map((finding) => ({ ...finding, shown: [] })),
  }
}

/** Null where workers look at nobody: then there is no time within which they would. */
function coverageOf({ coverage }: VerificationReport, now: string): ReportCoverage | null {
  const { periodMs, customers, within, oldestAgeMs } = coverage
  if (periodMs === null) return null
  const oldest = oldestAgeMs === null ? null : new Date(Date.parse(now) - oldestAgeMs).toISOString()
  return { periodMs, share: customers === 0 ? 1 : within / customers, oldest }
}
