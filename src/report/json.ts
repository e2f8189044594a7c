// For programs: the report as it is, with what follows from it.
import { asEscape, CONTROLS_IN_JSON } from '../model/control-characters.ts'
import { agreementOf, conclude, driftingOf, resolvedOf, shareOf } from './conclude.ts'
import { renderHeadline } from './render.ts'
import type { Report } from './report.ts'
import { renderUnverifiable } from './scope.ts'

/**
 * `--format json`, with what follows from the figures. `share`: of those who differ or are held, among those checked or
 * held, which is what `--max-drift` is held against. Answers that are not credible have no figure.
 */
export function jsonForm(report: Report) {
  const { findings, ...rest } = report
  const { known, disagree, held } = agreementOf(report.counts)
  const conclusion = conclude(report)
  const credible = conclusion !== 'not-credible'
  return {
    conclusion,
    headline: renderHeadline(report).text,
    drifting: credible ? driftingOf(report.counts) : null,
    held,
    share: credible ? shareOf(disagree, known) : null,
    resolvedMeanwhile: resolvedOf(report),
    ...rest,
    cannotBeVerified: renderUnverifiable(report),
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
  return JSON.stringify(value).replace(CONTROLS_IN_JSON, asEscape)
}
