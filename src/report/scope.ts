// What was looked at and how, and what nobody can see: the part of a report that does not depend on what was found.
import { sayService } from '../model/service.ts'
import { counted, figure, fromTo, lasting, minute, percent } from './figures.ts'
import type { Report } from './report.ts'

/** What no report of this service can know, whoever asks. */
export function sayUnseen({ options }: Pick<Report, 'options'>): string[] {
  return [
    'country_code: it can be sent, and no GET shows it.',
    'Users whom only the service knows: it has no list to ask for.',
    'Customers out of scope, or removed, whom rollcall has never synced: they are not looked at, and the service may let ' +
      'them in.',
    'Spelling: capitals of an e-mail, blanks at the ends, how a phone number is split, null or empty.',
    ...(options.values ? [] : ['Values of fields: left out of this report; --show-values puts them in.']),
  ]
}

/** How it was found out, for whoever has to rely on it. */
export function sayMethod({ options }: Pick<Report, 'options'>): string[] {
  return [
    'Each user is read by a GET and compared, field by field in normal form, with what the mapping makes of the ' +
      "customer's row as it is now.",
    'Nobody is judged while a change of theirs is on its way or was written a moment ago; an answer that a change ' +
      'has overtaken is thrown away.',
    'A difference counts when a second look, some time later, shows it again.',
    'No connection, no answer in time, 408, 429, 5xx, refused keys (401, 403), any other refusal, and a 2xx that reports ' +
      'an error are counted as no answer, never as drift.',
    'A 2xx that holds no user, or another one, is counted as drift: unreadable.',
    'Status 0 where a trial was agreed on is told, and is no drift: the service ends trials, and whether it did or ' +
      'somebody there nobody can see.',
    ...(options.from === 'ledger'
      ? [
          'This report made no call: it shows what is open of all that workers and runs of rollcall drift have found, ' +
            'whenever that was.',
        ]
      : [
          'What a worker has found while this went on, and may have repaired, is counted as found; how it ended is said.',
        ]),
  ]
}

/** A role that may only look sees no customer, and so what is known is counted by our own records. */
const RECORDED =
  'all who have a record; a run counts those too whom rollcall never handled, of whom nothing is known'

/** What was checked, and when: label and text. */
export function sayScope(report: Report): (readonly [label: string, text: string])[] {
  const { target, options, population, chosen, coverage, outcome } = report
  const many = counted(population, 'customer')
  const all = options.from === 'service' ? 'all of them' : RECORDED
  const which = options.where === null ? all : `where ${options.where}`
  const stopped = outcome.kind === 'stopped'
  const wanted = counted(Math.min(options.sample ?? population, population), 'customer')
  return [
    // Before any figure: each of them is of those alone whom it had come to.
    ...(stopped
      ? [['Stopped', `before the end, with ${figure(chosen)} of ${wanted} looked at`] as const]
      : []),
    ['Service', sayService(target)],
    [options.from === 'service' ? 'Looked at' : 'As known at', sayWhen(report)],
    [
      'Source',
      options.from === 'service'
        ? 'the service, by a GET for each'
        : 'what workers and runs have found, without a call',
    ],
    ['Customers', stopped && options.where === null ? figure(population) : `${figure(population)}, ${which}`],
    ...(options.sample === null
      ? []
      : [
          [
            'Sample',
            `${figure(options.sample)} asked for, ${figure(chosen)} drawn at random of ${many}`,
          ] as const,
        ]),
    ...(options.rate === null ? [] : [['Rate', `at most ${figure(options.rate)} calls a second`] as const]),
    ...(options.maxDrift === null ? [] : [['Limit', `${percent(options.maxDrift)} drift`] as const]),
    ...(coverage === null ? [] : [['Coverage', sayCoverage(coverage)] as const]),
    ['By', `rollcall ${report.writtenBy}`],
  ]
}

function sayCoverage({ periodMs, share, oldest }: NonNullable<Report['coverage']>): string {
  const since = oldest === null ? '' : `; the longest ago: ${minute(oldest)}`
  return `${percent(share)} verified within ${lasting(periodMs)}${since}`
}

/** A report without calls is of one moment. */
export function sayWhen({ startedAt, endedAt, options }: Pick<Report, 'startedAt' | 'endedAt' | 'options'>) {
  return options.from === 'ledger' ? minute(endedAt) : fromTo(startedAt, endedAt)
}
