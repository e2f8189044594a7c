// The scope of a report, and what it cannot see: the part of a report that does not depend on what was found.
import { renderService } from '../model/service.ts'
import { counted, figure, fromTo, lasting, minute, percent } from './figures.ts'
import type { Report } from './report.ts'

/** Limits of every report about this service. */
export function renderUnverifiable({ options }: Pick<Report, 'options'>): string[] {
  return [
    'country_code: it can be sent, and no GET shows it.',
    'Users that only the service knows: it has no list to ask for.',
    'Customers out of scope, or removed, that rollcall has never synced: they are not checked, and the service may let ' +
      'them in.',
    'Spelling: capitals of an e-mail, blanks at the ends, how a phone number is split, null or empty.',
    ...(options.values ? [] : ['Values of fields: left out of this report; --show-values puts them in.']),
  ]
}

/** How it was found out, for readers who rely on it. */
export function renderMethod({ options }: Pick<Report, 'options'>): string[] {
  return [
    'Each user is read by a GET and compared, field by field in normal form, with what the mapping makes of the ' +
      "customer's row as it is now.",
    'No customer is judged while a change is on its way or was written a moment ago; an answer that a change has ' +
      'overtaken is dropped.',
    'A difference counts when a second check, some time later, shows it again.',
    'No connection, no answer in time, 408, 429, 5xx, refused keys (401, 403), any other refusal, and a 2xx that reports ' +
      'an error are counted as no answer, never as drift.',
    'A 2xx that holds no user, or another one, is counted as drift: unreadable.',
    'Status 0 in place of a trial is reported, and is no drift: the service ends trials, and does not show who did.',
    options.from === 'ledger'
      ? 'This report made no call: it shows what is open of all that workers and runs of rollcall drift have found.'
      : 'What a worker has found while this went on, and may have repaired, counts as found; how it ended is said.',
  ]
}

export function renderScope(report: Report): (readonly [label: string, text: string])[] {
  const { target, options, population, chosen, coverage, outcome } = report
  const { where, sample, rate, maxDrift } = options
  const ledger = options.from === 'ledger'
  const stopped = outcome.kind === 'stopped'
  const many = counted(population, 'customer')
  const wanted = counted(Math.min(sample ?? population, population), 'customer')
  const all = ledger
    ? ', all who have a record; a run counts those too that rollcall never handled'
    : ', all of them'
  const which = where === null ? (stopped ? '' : all) : `, where ${where}`
  const rows: readonly (readonly [string, string | false | null])[] = [
    // Before any figure: each of them is of the customers alone to which it had come.
    ['Stopped', stopped && `before the end, with ${figure(chosen)} of ${wanted} checked`],
    ['Service', renderService(target)],
    [ledger ? 'As of' : 'Checked', renderWhen(report)],
    [
      'Source',
      ledger ? 'what workers and runs have found, without a call' : 'the service, by a GET for each',
    ],
    ['Customers', `${figure(population)}${which}`],
    [
      'Sample',
      sample !== null && `${figure(sample)} asked for, ${figure(chosen)} drawn at random of ${many}`,
    ],
    ['Rate', rate !== null && `at most ${figure(rate)} calls a second`],
    ['Limit', maxDrift !== null && `${percent(maxDrift)} drift`],
    ['Coverage', coverage && renderCoverage(coverage)],
    ['By', `rollcall ${report.writtenBy}`],
  ]
  return rows.flatMap(([label, text]) => (text ? [[label, text] as const] : []))
}

function renderCoverage({ periodMs, share, oldest }: NonNullable<Report['coverage']>): string {
  const since = oldest === null ? '' : `; the longest ago: ${minute(oldest)}`
  return `${percent(share)} checked within ${lasting(periodMs)}${since}`
}

/** A report without calls is of one moment. */
export function renderWhen(report: Pick<Report, 'startedAt' | 'endedAt' | 'options'>) {
  const { startedAt, endedAt, options } = report
  return options.from === 'ledger' ? minute(endedAt) : fromTo(startedAt, endedAt)
}
