// A report of made-up customers: small enough to read, with something of every kind.
import { tallyOf as countFindings } from '../../src/drift/tally.ts'
import {
  DRIFT_CAUSES,
  DRIFT_KINDS,
  type DriftCause,
  type DriftField,
  type DriftKind,
  type DriftTally,
} from '../../src/drift/words.ts'
import type { Report, ReportedFinding } from '../../src/report/report.ts'

/** Whatever is given replaces what stands here. */
export function aReport(given: Partial<Report> = {}): Report {
  const findings = given.findings ?? DRIFT_KINDS.map((kind, n) => aFinding({ id: String(n + 1), kind }))
  const population = given.population ?? 2000
  const checked = Math.max(1950, findings.length)
  return {
    version: 1,
    writtenBy: '0.1.0',
    target: { origin: 'https://service.example', environment: 'production', local: false },
    startedAt: '2026-11-22T02:00:00.000Z',
    endedAt: '2026-11-22T02:41:10.000Z',
    options: { from: 'service', sample: null, where: null, rate: null, maxDrift: null, values: false },
    outcome: { kind: 'complete' },
    population,
    chosen: population,
    counts: tallyOf(findings, checked),
    suspected: 3,
    foundLater: null,
    estimate: null,
    coverage: null,
    repair: null,
    trend: [],
    ...given,
    findings,
  }
}

export function aFinding(given: Partial<ReportedFinding> = {}): ReportedFinding {
  const kind = given.kind ?? 'differs'
  const id = given.id ?? '1'
  return {
    id,
    key: id,
    userId: `user-${id}`,
    kind,
    fields: kind === 'differs' ? ['email', 'mobile_phone'] : kind === 'trial-ended' ? ['status'] : [],
    cause: kind === 'trial-ended' || kind === 'unreadable' ? null : 'edited-at-service',
    access: kind === 'missing' ? 'lost' : kind === 'unexpected-access' ? 'undue' : null,
    firstSeen: '2026-11-20T08:15:00.000Z',
    lastSeen: '2026-11-22T02:10:00.000Z',
    checks: 2,
    repairs: 0,
    resolvedAt: null,
    resolvedHow: null,
    held: false,
    shown: [],
    ...given,
  }
}

const FIELDS: readonly DriftField[] = ['email', 'mobile_phone', 'last_name', 'status', 'coverage_name']

/** Many of them, over kinds, causes and fields as life would have it; the same ones every time. */
export function manyFindings(size: number): ReportedFinding[] {
  return Array.from({ length: size }, (_, n) => {
    const kind: DriftKind = n % 11 === 0 ? 'unexpected-access' : n % 5 === 0 ? 'missing' : 'differs'
    const cause: DriftCause = DRIFT_CAUSES[((n * 7) % 13) % DRIFT_CAUSES.length] ?? 'never-delivered'
    const first = FIELDS[((n * n) % 7) % FIELDS.length] ?? 'email'
    const fields =
      kind !== 'differs' ? [] : n % 3 === 0 && first !== 'email' ? ['email' as const, first] : [first]
    const day = String(1 + (n % 21)).padStart(2, '0')
    return aFinding({
      id: String(n + 1),
      key: String(100_000 + n),
      userId: `u-${(100_000 + n).toString(36)}`,
      kind,
      cause,
      fields,
      firstSeen: `2026-11-${day}T08:15:00.000Z`,
    })
  })
}

export function tallyOf(findings: readonly ReportedFinding[], checked: number): DriftTally {
  return {
    ...countFindings(findings),
    ...{ checked, agrees: checked - findings.length },
    skipped: { owed: 12, 'just-written': 4, rejected: 2 },
    noAnswer: { trouble: 7 },
  }
}
