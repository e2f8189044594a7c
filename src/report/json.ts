// For programs: the report as it is, with what follows from it.
import { asEscape, OBEYED_IN_JSON } from '../model/obeyed.ts'
import { conclude, driftingOf, resolvedOf, shareOf } from './conclude.ts'
import type { Report } from './report.ts'
import { sayHeadline } from './say.ts'
import { sayUnseen } from './scope.ts'

/** `--format json`; nobody has to count again, and nobody can count otherwise. */
export function jsonForm(report: Report) {
  const { findings, ...rest } = report
  const drifting = driftingOf(report.counts)
  return {
    conclusion: conclude(report),
    headline: sayHeadline(report).text,
    drifting,
    share: shareOf(drifting, report.counts.checked),
    resolvedMeanwhile: resolvedOf(report),
    ...rest,
    cannotBeSeen: sayUnseen(report),
    findings,
  }
}

/** One JSON document a line: the report without its findings first, then each of these. */
export function ndjson(report: Report): string[] {
  const { findings, ...rest } = jsonForm(report)
  return [
    asLine({ type: 'report', ...rest }),
    ...findings.map((finding) => asLine({ type: 'finding', ...finding })),
  ]
}

function asLine(value: unknown): string {
  return JSON.stringify(value).replace(OBEYED_IN_JSON, asEscape)
}
