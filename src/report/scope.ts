// The scope of a report, and what it cannot see: the part of a report that does not depend on what was found.
import { renderDuration } from '../model/duration.ts'
import { renderService } from '../model/service.ts'
import { counted, figure, minute, percent, renderRate } from './figures.ts'
import type { Report } from './report.ts'

/** Limits of every report about this service. */
export function renderUnverifiable({ options }: Pick<Report, 'options'>): string[] {
  return [
    'country_code: no GET shows it.',
    'Users without a customer in the database: the service has no list of users.',
    'Customers out of scope, or removed, that rollcall has never synced: they may have access at the service.',
    'Fields that rollcall leaves out of a sync: `rollcall failures` lists them.',
    'Differences of form: capitals in an e-mail, blanks at the ends, how a phone number is split, null instead of empty text.',
    ...(options.values ? [] : ['Values of fields: --show-values adds them.']),
  ]
}

/** How it was found out, for readers who rely on it. */
export function renderMethod({ options }: Pick<Report, 'options'>): string[] {
  return [
    'A GET reads each user. rollcall brings its fields into a common form, and compares them with the user that the ' +
      'mapping builds from the present row.',
    'A customer is not checked while it is owed a sync, or was written a moment ago. If the customer changes during ' +
      'the GET, the answer is ignored.',
    'A difference counts when a second check, some time later, shows it again.',
    'A check without a clear answer is never drift: no connection, no answer in time, a 2xx that reports an error, or an HTTP status other than 2xx, 404 and 410.',
    'A 2xx without an error is a clear answer. JSON null means that the user is missing; anything else that does not show this user is drift of the kind "unreadable".',
    'Status 0 instead of 4 (a trial) is shown, but is no drift: the service itself ends trials.',
    options.from === 'ledger'
      ? 'This report made no call: it shows the open findings of workers and of earlier runs.'
      : 'Findings of workers during the run also count, even if they were repaired meanwhile. The list shows how each ended.',
  ]
}

export function renderScope(report: Report): (readonly [label: string, text: string])[] {
  const { target, options, population, chosen, coverage, outcome } = report
  const { where, sample, rate, maxDrift } = options
  const ledger = options.from === 'ledger'
  const stopped = outcome.kind === 'stopped'
  const many = counted(population, 'customer')
  const wanted = counted(Math.min(sample ?? population, population), 'customer')
  const handled = chosen < population ? `, of which the run handled ${figure(chosen)}` : ''
  const all = ledger ? ' that rollcall has a record of' : handled
  const which = where === null ? (stopped || sample !== null ? '' : all) : `, where ${where}`
  const rows: readonly (readonly [string, string | false | null])[] = [
    // Before any figure: each of them is of the customers alone to which it had come.
    [
      'Stopped',
      stopped &&
        `before the end: ${figure(chosen)} of ${wanted} were handled${chosen > 0 ? ', but some differences may lack their second check' : ''}`,
    ],
    ['Service', renderService(target)],
    [ledger ? 'As of' : 'Time', renderWhen(report)],
    ['Source', ledger ? 'earlier checks; this report made no call' : 'the service: one GET per customer'],
    ['Customers', `${figure(population)}${which}`],
    ['Sample', sample !== null && `${figure(Math.min(sample, population))} of ${many}, drawn at random`],
    ['Rate', rate !== null && `at most ${renderRate(rate)}`],
    ['Limit', maxDrift !== null && `${percent(maxDrift)} drift`],
    ['Coverage', coverage && renderCoverage(coverage)],
    ['By', `rollcall ${report.writtenBy}`],
  ]
  return rows.flatMap(([label, text]) => (text ? [[label, text] as const] : []))
}

function renderCoverage({ periodMs, share, oldest }: NonNullable<Report['coverage']>): string {
  const since = oldest === null ? '' : `; the oldest check was at ${minute(oldest)}`
  return `within the last ${renderDuration(periodMs)}, workers checked ${percent(share)} of the customers that they can check${since}`
}

/** A report without calls is of one moment; a date is said once. */
export function renderWhen(report: Pick<Report, 'startedAt' | 'endedAt' | 'options'>) {
  const { startedAt, endedAt, options } = report
  const [from, to] = [minute(startedAt), minute(endedAt)]
  if (options.from === 'ledger' || from === to) return to
  const isOneDay = from.slice(0, 10) === to.slice(0, 10)
  return `${from.replace(' UTC', '')} to ${isOneDay ? to.slice(11) : to}`
}
