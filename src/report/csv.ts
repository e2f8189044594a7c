// The findings for a spreadsheet: RFC 4180, and nothing in it that a spreadsheet would run.
import { words } from '../model/values.ts'
import type { Report, ReportedFinding } from './report.ts'

const COLUMNS = words(
  'key user_id kind access fields cause first_seen last_seen checks repairs resolved_at resolved_how',
)

/** Lines end in CR; the writer adds the LF. */
export function csv({ findings, options }: Pick<Report, 'findings' | 'options'>): string[] {
  const titles = options.values ? [...COLUMNS, 'here', 'service'] : COLUMNS
  const rows = findings.map((finding) => titles.map((title) => cellOf(finding, title)))
  return [titles, ...rows].map((row) => `${row.map(asCell).join(',')}\r`)
}

/** Values, where they were asked for, are JSON, field by field. */
function cellOf({ shown, ...finding }: ReportedFinding, title: string): Cell {
  if (title === 'here' || title === 'service') {
    const values = Object.fromEntries(shown.map((each) => [each.field, each[title]]))
    return shown.length === 0 ? null : JSON.stringify(values)
  }
  const name = title.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  const value = finding[name as keyof typeof finding]
  return typeof value === 'object' && value !== null ? value.join(' ') : value
}

type Cell = string | number | boolean | null

/** Text that a spreadsheet takes for a formula, also in wide letters, which it reads as narrow ones. */
const FORMULA = /^[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20|]|^[\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/**
 * An apostrophe in front makes a spreadsheet show a formula instead of running it (OWASP, "CSV Injection"): keys and user
 * ids come from people. A negative number is none. Quotes keep one cell what other separators would split.
 */
function asCell(value: Cell): string {
  if (value === null) return ''
  const text = String(value)
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",;|\t\r\n']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
