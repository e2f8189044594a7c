// The findings of a report as a table for a terminal: as wide as that is, whatever the keys are like.
import { figure, minute } from '../report/figures.ts'
import type { Report, ReportedFinding } from '../report/report.ts'
import { asJson } from './json.ts'
import { columns } from './render-history.ts'
import { hanging } from './say-wrapped.ts'
import { shown } from './shown.ts'

/** Customers who are named one by one in a terminal; the other formats have all of them. */
const NAMED = 50
/** A shorter piece of a key says too little. */
const LEAST_KEY = 16
const HEAD = ['CUSTOMER', 'KIND', 'ACCESS', 'CAUSE', 'FIRST SEEN, UTC'] as const

/** What there are several of, or what only some have, stands in lines below the row. */
export function sayFindings({ findings }: Pick<Report, 'findings'>, width: number): string[] {
  if (findings.length === 0) return ['']
  const rows = findings
    .slice(0, NAMED)
    .map(
      ({ key, kind, access, cause, firstSeen }) =>
        [shown(key), kind, access ?? '–', cause ?? '–', minute(firstSeen).replace(' UTC', '')] as const,
    )
  const room = width - widthOf([HEAD, ...rows].map(([, ...others]) => others))
  const capped = rows.map(([key, ...others]) => [shortened(key, Math.max(room, LEAST_KEY)), ...others])
  const [head = '', ...lines] = columns([HEAD, ...capped])
  const left = findings.length - rows.length
  return [
    head,
    ...lines.flatMap((line, n) => [line, ...sayBelow(findings[n])]),
    ...(left > 0 ? [`and ${figure(left)} more; --format html, csv or json has all of them`] : []),
    '',
  ]
}

/** Of columns beside the first one, with the gaps before them. */
function widthOf(rows: readonly (readonly string[])[]): number {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return widths.reduce((sum, width) => sum + 2 + width, 0)
}

/** Keys that are alike are mostly so at their beginning, and some at their end: both are kept. */
export function shortened(text: string, most: number): string {
  const letters = [...text]
  if (letters.length <= most) return text
  const end = Math.floor((most - 1) / 2)
  return `${letters.slice(0, most - 1 - end).join('')}…${letters.slice(letters.length - end).join('')}`
}

function sayBelow(finding: ReportedFinding | undefined): string[] {
  if (!finding) return []
  const { fields, resolvedHow, shown: values } = finding
  return [
    ...(resolvedHow === null ? [] : [`    ended: ${resolvedHow}`]),
    ...(values.length > 0 || fields.length === 0 ? [] : hanging('    ', fields.join(', '))),
    ...values.map(
      ({ field, here, service }) =>
        `    ${field}: ${sayValue(here)} here, ${sayValue(service)} at the service`,
    ),
  ]
}

function sayValue(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return typeof value === 'object' ? shown(JSON.stringify(value)) : asJson(value)
}
