import type { Command } from '@commander-js/extra-typings'
import { RollcallError } from '../model/errors.ts'
import { CONFIG_OPTION, gathered, numberIn, rateIn, readPerson, WHERE_OPTION } from './option-values.ts'
import { shellQuoted } from './render.ts'

export const REPORT_FORMATS = ['table', 'json', 'ndjson', 'csv', 'html'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

export function addDriftOptions(command: Command) {
  return command
    .option(...CONFIG_OPTION)
    .option('--sample <customers>', 'check this many random customers', readSample)
    .option(...WHERE_OPTION, gathered)
    .option(
      '--rate <calls>',
      'highest rate, in calls per second (default: half of the rate limit)',
      rateIn('--rate'),
    )
    .option('--restart', 'start over, even if a stopped run of this command could continue')
    .option('--from-ledger', 'report the findings of earlier checks; makes no call')
    .option('--max-drift <share>', 'end with exit code 0 up to this drift ratio, like 0.5%')
    .option('--repair', 'request a sync for each customer that differs')
    .option(
      '--credible',
      'confirm that the missing users are really missing; reports then show them for 24 hours (see below)',
    )
    .option('--why <text>', 'with --credible: the reason, stored with your name')
    .option('--by <name>', 'with --why: your name (default: your operating-system account, and the host)')
    .option('--show-values', 'add to the report the values of fields that differ')
    .addOption(
      command
        .createOption('--format <format>', 'format of the report (default: table)')
        .choices(REPORT_FORMATS),
    )
    .option('--output <file>', 'write the report to this file')
    .option('--json', 'the same as --format json')
}

export type DriftFlags = ReturnType<ReturnType<typeof addDriftOptions>['opts']>

export function readDriftAsked(options: DriftFlags) {
  const { fromLedger = false, restart = false, repair = false, showValues = false } = options
  const { format, json = false, where = [], output = null, sample = null, rate = null, maxDrift } = options
  const problems = [...misfits(options)]
  const asked = {
    ...{ fromLedger, restart, repair, showValues, where, output },
    ...{ sample, rate, maxDrift: maxDrift === undefined ? null : readShare(maxDrift) / 100 },
    credibleBy: options.credible === true ? readPerson(options) : null,
    format: format ?? (json ? ('json' as const) : ('table' as const)),
    resume: commandOf(options),
  }
  if (json && asked.format !== 'json') problems.push(`--json: not with --format ${format}`)
  if (asked.output === '') problems.push('--output: expected the name of a file')
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  return asked
}

export type DriftAsked = ReturnType<typeof readDriftAsked>

/** Options that only a run with calls can have. */
const CALLING = ['sample', 'where', 'rate', 'restart', 'repair', 'credible', 'showValues'] as const

function* misfits(options: DriftFlags): Generator<string> {
  if (options.why !== undefined && options.credible !== true) yield '--why: only with --credible'
  if (options.by !== undefined && options.why === undefined) yield '--by: only with --why'
  if (options.fromLedger !== true) return
  for (const name of CALLING)
    if (options[name] !== undefined)
      yield `${spelled(name)}: not with --from-ledger, which reports earlier checks`
}

/** The keys of all of them are in memory, and a larger sample hardly tells more. */
const LARGEST_SAMPLE = 1_000_000

const readSample = numberIn({
  name: '--sample',
  expected: `a whole number of customers from 1 to ${LARGEST_SAMPLE}; without it all customers are checked`,
  form: /^[1-9]\d*$/,
  from: 1,
  to: LARGEST_SAMPLE,
})

const readShare = numberIn({
  name: '--max-drift',
  expected: 'a share from 0% to 100%, like 0.5%',
  form: /^\d{1,3}(\.\d{1,6})?%$/,
  from: 0,
  to: 100,
})

/** As it was called, but for --restart, which would begin anew. */
function commandOf({ restart: _, ...flags }: DriftFlags): string {
  const words = Object.entries(flags).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((each) => (each === true ? spelled(name) : `${spelled(name)} ${shellQuoted(`${each}`)}`)),
  )
  return ['rollcall drift', ...words].join(' ')
}

function spelled(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
