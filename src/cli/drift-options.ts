import type { DecidedBy } from '../brake/held.ts'
import { closest } from '../model/closest.ts'
import { RollcallError } from '../model/errors.ts'
import { type NumberRule, numberOf, readPerson, within } from './option-values.ts'

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
  readonly format?: string
  readonly output?: string
  readonly json?: boolean
}

const REPORT_FORMATS = ['table', 'json', 'ndjson', 'csv', 'html'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** What a call asks for; null and false where it does not. */
export type DriftAsked = {
  readonly fromLedger: boolean
  readonly sample: number | null
  /** Each as it was written; all of them have to hold. */
  readonly where: readonly string[]
  readonly rate: number | null
  readonly restart: boolean
  readonly maxDrift: number | null
  readonly repair: boolean
  /** That many users are not there is meant, on the word of this person. */
  readonly believed: DecidedBy | null
  readonly showValues: boolean
  readonly format: ReportFormat
  readonly output: string | null
}

/** @throws RollcallError USAGE with everything that is wrong */
export function readDriftAsked(options: DriftFlags): DriftAsked {
  const problems = [...misfits(options)]
  const asked = {
    fromLedger: options.fromLedger === true,
    sample: numberOf(options.sample, SAMPLE, problems),
    where: options.where ?? [],
    rate: numberOf(options.rate, RATE, problems),
    restart: options.restart === true,
    maxDrift: numberOf(options.maxDrift, MAX_DRIFT, problems),
    repair: options.repair === true,
    believed: options.believe === true ? readPerson(options) : null,
    showValues: options.showValues === true,
    format: formatOf(options, problems),
    output: options.output ?? null,
  }
  if (asked.output === '') problems.push('--output: expected the name of a file')
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  return asked
}

const CALLING = ['sample', 'where', 'rate', 'restart', 'repair', 'believe', 'showValues'] as const
const NAMES: Readonly<Record<(typeof CALLING)[number], string>> = {
  sample: '--sample',
  where: '--where',
  rate: '--rate',
  restart: '--restart',
  repair: '--repair',
  believe: '--believe',
  showValues: '--show-values',
}

/** What only a run with calls can do. */
function* misfits(options: DriftFlags): Generator<string> {
  if (options.why !== undefined && options.believe !== true) yield '--why: only with --believe'
  if (options.by !== undefined && options.why === undefined) yield '--by: only with --why'
  if (options.fromLedger !== true) return
  for (const name of CALLING)
    if (options[name] !== undefined) yield `${NAMES[name]}: not with --from-ledger, which makes no call`
}

/** The keys of all of them are in memory; and who asks so many learns nothing that fewer do not tell. */
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

function formatOf({ format, json = false }: DriftFlags, problems: string[]): ReportFormat {
  if (format === undefined) return json ? 'json' : 'table'
  const known = REPORT_FORMATS.find((each) => each === format)
  if (!known) {
    const near = closest(format, REPORT_FORMATS)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    problems.push(`--format: expected one of ${REPORT_FORMATS.join(', ')}${hint}`)
  } else if (json && known !== 'json') problems.push(`--json: not with --format ${known}`)
  return known ?? 'table'
}

/** The command that goes on with a run: what decides which run it is, and how it is printed. */
export function commandOf(asked: DriftAsked, config: string | undefined): string {
  const words = [
    'rollcall drift',
    ...(config === undefined ? [] : [`--config ${quoted(config)}`]),
    ...(asked.sample === null ? [] : [`--sample ${asked.sample}`]),
    ...asked.where.map((each) => `--where ${quoted(each)}`),
    ...(asked.rate === null ? [] : [`--rate ${asked.rate}`]),
    ...(asked.repair ? ['--repair'] : []),
    ...(asked.believed
      ? ['--believe', `--why ${quoted(asked.believed.why)}`, `--by ${quoted(asked.believed.by)}`]
      : []),
    ...(asked.maxDrift === null ? [] : [`--max-drift ${Number((asked.maxDrift * 100).toFixed(6))}%`]),
    ...(asked.showValues ? ['--show-values'] : []),
    ...(asked.format === 'table' ? [] : [`--format ${asked.format}`]),
    ...(asked.output === null ? [] : [`--output ${quoted(asked.output)}`]),
  ]
  return words.join(' ')
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./:=%@,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
