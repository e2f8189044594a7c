// The findings for a spreadsheet: RFC 4180, and nothing in it that a spreadsheet would run.
import type { Report, ReportedFinding } from './report.ts'

const COLUMNS: readonly (readonly [
  title: string,
  cell: (finding: ReportedFinding) => string | number | null,
])[] = [
  ['key', ({ key }) => key],
  ['user_id', ({ userId }) => userId],
  ['kind', ({ kind }) => kind],
  ['access', ({ access }) => access],
  ['fields', ({ fields }) => fields.join(' ')],
  ['cause', ({ cause }) => cause],
  ['first_seen', ({ firstSeen }) => firstSeen],
  ['last_seen', ({ lastSeen }) => lastSeen],
  ['looks', ({ looks }) => looks],
  ['repairs', ({ repairs }) => repairs],
  ['resolved_at', ({ resolvedAt }) => resolvedAt],
  ['resolved_how', ({ resolvedHow }) => resolvedHow],
]

/** Only where values were asked for; as JSON, field by field. */
const VALUES: typeof COLUMNS = [
  ['here', ({ shown }) => asObject(shown.map(({ field, here }) => [field, here]))],
  ['service', ({ shown }) => asObject(shown.map(({ field, service }) => [field, service]))],
]

/** Lines end in CR; whoever writes them adds the LF. */
export function csv({ findings, options }: Pick<Report, 'findings' | 'options'>): string[] {
  const columns = options.values ? [...COLUMNS, ...VALUES] : COLUMNS
  const rows = findings.map((finding) => columns.map(([, cell]) => cell(finding)))
  return [columns.map(([title]) => title), ...rows].map((row) => `${row.map(asCell).join(',')}\r`)
}

function asObject(pairs: (readonly [string, unknown])[]): string | null {
  return pairs.length === 0 ? null : JSON.stringify(Object.fromEntries(pairs))
}

/** What a spreadsheet takes for a formula, also in the wide letters that it reads as the narrow ones. */
const FORMULA = /^[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20|]|^[\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/**
 * An apostrophe in front makes a spreadsheet show a formula instead of running it (OWASP, "CSV Injection"): keys and user
 * ids come from people. A negative number is none. Quotes keep one cell what other separators would split.
 */
function asCell(value: string | number | null): string {
  if (value === null) return ''
  const text = String(value)
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",;|\t\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
