import { RollcallError } from '../model/errors.ts'
import { type NumberRule, numberOf, readPerson, within } from './option-values.ts'

export const REPORT_FORMATS = ['table', 'json', 'ndjson', 'csv', 'html'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** As commander reads them. */
export type DriftFlags = {
  readonly config?: string
  readonly sample?: string
  readonly where?: readonly string[]
  readonly rate?: string
  readonly restart?: boolean
  readonly fromLedger?: boolean
  readonly maxDrift?: string
  readonly repair?: boolean
  readonly believe?: boolean
  readonly why?: string
  readonly by?: string
  readonly showValues?: boolean
  readonly format?: ReportFormat
  readonly output?: string
  readonly json?: boolean
}

/** @throws RollcallError USAGE with everything that is wrong */
export function readDriftAsked(options: DriftFlags) {
  const { format, json = false } = options
  const problems = [...misfits(options)]
  const asked = {
    fromLedger: options.fromLedger === true,
    sample: numberOf(options.sample, SAMPLE, problems),
    /** Each as it was written; all of them have to hold. */
    where: options.where ?? [],
    rate: numberOf(options.rate, RATE, problems),
    restart: options.restart === true,
    maxDrift: numberOf(options.maxDrift, MAX_DRIFT, problems),
    repair: options.repair === true,
    /** That many users are not there is meant, on the word of this person. */
    believed: options.believe === true ? readPerson(options) : null,
    showValues: options.showValues === true,
    format: format ?? (json ? ('json' as const) : ('table' as const)),
    output: options.output ?? null,
    /** The command that goes on with a run. */
    resume: commandOf(options),
  }
  if (json && asked.format !== 'json') problems.push(`--json: not with --format ${format}`)
  if (asked.output === '') problems.push('--output: expected the name of a file')
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  return asked
}

export type DriftAsked = ReturnType<typeof readDriftAsked>

/** What only a run with calls can do. */
const CALLING = ['sample', 'where', 'rate', 'restart', 'repair', 'believe', 'showValues'] as const

function* misfits(options: DriftFlags): Generator<string> {
  if (options.why !== undefined && options.believe !== true) yield '--why: only with --believe'
  if (options.by !== undefined && options.why === undefined) yield '--by: only with --why'
  if (options.fromLedger !== true) return
  for (const name of CALLING)
    if (options[name] !== undefined) yield `${spelled(name)}: not with --from-ledger, which makes no call`
}

/** The keys of all of them are in memory, and a larger sample hardly tells more. */
const LARGEST_SAMPLE = 1_000_000

const SAMPLE: NumberRule = {
  name: '--sample',
  expected: `a whole number of customers from 1 to ${LARGEST_SAMPLE}; without it everybody is looked at`,
  form: /^[1-9]\d*$/,
  read: (text) => within(Number(text), 1, LARGEST_SAMPLE),
}

const RATE: NumberRule = {
  name: '--rate',
  expected: 'calls per second, from 0.1 to 10000',
  form: /^\d{1,5}(\.\d{1,3})?$/,
  read: (text) => within(Number(text), 0.1, 10_000),
}

const MAX_DRIFT: NumberRule = {
  name: '--max-drift',
  expected: 'a share from 0% to 100%, like 0.5%',
  form: /^\d{1,3}(\.\d{1,6})?%$/,
  read: (text) => within(Number(text.slice(0, -1)) / 100, 0, 1),
}

/** As it was called, but for --restart, which would begin anew. */
function commandOf({ restart: _, ...flags }: DriftFlags): string {
  const words = Object.entries(flags).flatMap(([name, value]) =>
    [value].flat().map((each) => (each === true ? spelled(name) : `${spelled(name)} ${quoted(`${each}`)}`)),
  )
  return ['rollcall drift', ...words].join(' ')
}

/** `maxDrift` as `--max-drift`. */
function spelled(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./:=%@,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
