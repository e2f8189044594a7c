// The lines of a backfill and its dry run for a person; the values are what --json prints.
import type { Expected } from '../brake/expected.ts'
import type { BrakeForecast } from '../brake/forecast.ts'
import type { Overview } from '../ledger/overview.ts'
import { renderService } from '../model/service.ts'
import { figure } from '../report/figures.ts'
import { type Counts, totalCalls } from '../sweep/forecast.ts'
import type { SweepTally } from '../sweep/verdict.ts'
import type { Plan } from '../sync/plan.ts'
import { type BackfillAsked, fitsNone } from './backfill-asked.ts'
import type { forecastBackfill } from './backfill-dry-run.ts'
import type { runBackfill } from './backfill-run.ts'
import { definitions, type LabelledText, span } from './render.ts'
import { allMissed, renderExamples, renderMissed } from './render-sweeps.ts'

type BackfillReport = Awaited<ReturnType<typeof runBackfill>>
type ForecastReport = Awaited<ReturnType<typeof forecastBackfill>>

export const NONE_FITS = 'there is no customer for which --where holds: is it a typing error?'

export function renderBackfill(report: BackfillReport, asked: BackfillAsked): string[] {
  const { ended, expected, waited, missed, verdicts } = report
  const about: LabelledText[] = [
    ['service', renderService(report.target)],
    ['mapping', renderMapping(report, asked)],
  ]
  if (fitsNone(report, asked)) return definitions([...about, ['none', NONE_FITS]])
  return definitions([
    ...about,
    ...tallyEntries(report, asked),
    [
      'missed',
      allMissed(missed) > 0 &&
        `capture has missed ${renderMissed(missed)}${renderExamples(report.examples)}; they are owed a sync now. Find out what writes without triggers: disabled triggers, session_replication_role, logical replication`,
    ],
    ['expected', expected && renderExpected(expected)],
    ['stopped', !ended && whyStopped(report, asked)],
    [
      'done',
      ended &&
        !waited &&
        (verdicts.differs === 0 ? 'no customer differs' : `${figure(verdicts.differs)} ${OWED}`),
    ],
    ...(waited ? waitedEntries(waited, verdicts.unreadable) : []),
  ])
}

const OWED = 'are owed a sync: `rollcall status` shows how it goes, and --wait waits for it'

function renderMapping(
  { generation, appliedAt, current, earlier, applied }: BackfillReport,
  { mapping }: BackfillAsked,
): string {
  if (generation === null) return 'no mapping is active yet; the first worker activates its own'
  if (!current)
    return `not applied: syncs go by generation ${generation}, since ${appliedAt}${earlier ? ', which replaced it' : ''}`
  if (applied) return `applied: syncs go by it from now on (generation ${generation})`
  const again = mapping ? '; all customers were planned again' : ''
  return `syncs go by it already (generation ${generation}, since ${appliedAt})${again}`
}

function tallyEntries(tally: SweepTally, { mapping }: BackfillAsked): LabelledText[] {
  const { verdicts, waiting, unsure } = tally
  const plans = Object.fromEntries(PLANS.map(([kind, words]) => [words, tally.plans[kind] ?? 0]))
  const byRow = unsure > 0 ? `, ${figure(unsure)} of them differ by row or mapping` : ''
  const bringsIn = mapping ? ': `rollcall backfill` brings them in' : ''
  const some: readonly (readonly [label: string, count: number, text: string])[] = [
    ['lose access', tally.loseAccess, 'at most of those who differ; the brake holds a mass of them'],
    ['user_id', tally.otherUsers, 'become other users; the users that they were keep their access'],
    ['owed', verdicts.owed, `wait for a sync already${byRow}`],
    ['later', verdicts['another-time'], 'change by themselves at another time than before'],
    ['never asked', verdicts['never-asked'], `were never synced, and are not by this${bringsIn}`],
    ['left alone', verdicts['not-selected'], 'differ in another way than --only names'],
    ['held', waiting.held, 'wait for a person, as before: see `rollcall held`'],
    ['rejected', waiting.rejected, 'were rejected, and stay so: see `rollcall failures`'],
    ['discarded', waiting.discarded, 'stay as a person has left them: see `rollcall held log`'],
    [
      'out of scope',
      tally.neverInScope,
      'are not in scope, and never were here: left alone, whatever access they have at the service',
    ],
    ['unreadable', verdicts.unreadable, 'rows cannot be read: see `rollcall failures`'],
  ]
  return [
    ['customers', `${figure(tally.customers)} planned`],
    ['differ', [figure(verdicts.differs), listed(' ', plans)].filter((part) => part !== '').join(': ')],
    ['fields', listed(' ', tally.fields, 'of those who are registered: ')],
    ...some.map(([label, count, text]): LabelledText => [label, count > 0 && `${figure(count)} ${text}`]),
  ]
}

const PLANS: readonly (readonly [Plan['kind'], string])[] = [
  ['create', 'to create'],
  ['lookup', 'to look up'],
  ['patch', 'to update (PATCH)'],
  ['replace', 'to replace (PUT)'],
  ['revoke', 'to revoke'],
  ['erase', 'to erase'],
  ['reject', 'rejected'],
  ['none', 'without a call'],
]

/** `12 status, 3 email`, the most frequent first; nothing where all are 0. */
function listed(between: string, counts: Counts, before = ''): string {
  const some = Object.entries(counts).flatMap(([name, n = 0]) => (n > 0 ? [{ name, n }] : []))
  if (some.length === 0) return ''
  const sorted = some.toSorted((a, b) => b.n - a.n)
  return before + sorted.map(({ name, n }) => `${figure(n)}${between}${name}`).join(', ')
}

export function renderExpected({ set, left, until, trippedAt }: Expected): string {
  if (trippedAt !== null)
    return `registrations wait for a person since ${trippedAt}, those who are expected too: see \`rollcall held\``
  if (left === 0) return 'no registration is left to be made, and none passes the brake uncounted'
  return set
    ? `${figure(left)} registrations pass the brake until ${until}`
    : `they were expected when this backfill began, and are not expected twice: ${figure(left)} of them may still come; \`--restart\` sets their number anew`
}

function whyStopped({ generation, current, superseded }: BackfillReport, { mapping }: BackfillAsked): string {
  const why = () => {
    if (generation !== null && !current) return 'another mapping was applied meanwhile'
    if (superseded) return 'another backfill was begun in its place'
    if (mapping) return 'a worker with this configuration goes on with it, and so does this command'
    return 'run the same command again to go on; --restart starts over'
  }
  return `not all customers were planned: ${why()}`
}

function waitedEntries(waited: NonNullable<BackfillReport['waited']>, unreadable: number): LabelledText[] {
  const { states, reasons, open, ended } = waited
  const why = reasons
    .filter(({ state }) => state !== 'discarded')
    .map(({ state, code, status, customers }): LabelledText => {
      const command = state === 'held' ? 'held' : 'failures'
      const answer = status === null ? '' : ` (${status})`
      return [state, `${figure(customers)} × ${code}${answer}; see \`rollcall ${command}\``]
    })
  if (!ended)
    return [
      ...why,
      ['stopped', `${figure(open)} still wait for a sync; \`rollcall status\` shows how it goes`],
    ]
  const unsettled = unsettledOf(waited) + unreadable
  return [
    ['settled', `${figure(states.idle)} customers`],
    ...why,
    ['discarded', states.discarded > 0 && `${figure(states.discarded)} were left as they are by a person`],
    [
      'done',
      unsettled + open > 0
        ? `${figure(unsettled)} customers are not settled, and need a person or time`
        : 'all customers of the backfill are settled',
    ],
  ]
}

export function unsettledOf({ states: { rejected, failing, held } }: Pick<Overview, 'states'>): number {
  return rejected + failing + held
}

export function renderForecast(report: ForecastReport, asked: BackfillAsked): string[] {
  const { target, withoutLedger, generation, sharing } = report
  const { gain, lose, change } = report.access
  return definitions([
    ['service', target ? renderService(target) : 'SERVICE_URL is not set'],
    [
      'note',
      withoutLedger &&
        `all customers were planned as if nothing had been sent before: ${WITHOUT[withoutLedger]}`,
    ],
    [
      'note',
      generation !== null &&
        !report.current &&
        `not applied: syncs go by generation ${generation}; nothing is sent by this mapping before \`rollcall backfill --mapping\``,
    ],
    ['none', fitsNone(report, asked) && NONE_FITS],
    ...tallyEntries(report, asked),
    ['registers', listed(' × ', report.registered, 'with ')],
    ['access', `${figure(gain)} gain it, ${figure(lose)} lose it, ${figure(change)} change it`],
    ['left out', listed(' × ', report.leftOut)],
    ['rejected', listed(' × ', report.rejected)],
    [
      'warning',
      sharing > 0 &&
        `${figure(sharing)} new customers share a user_id with another one of them: each is rejected (shared-user-id) as soon as the other is known, and one of them may have been registered by then. Correct the key, the scope or the rows before you bring them in; the figures here count them as any other`,
    ],
    ['calls', renderCalls(report.calls) || 'none'],
    ['lookup first', report.lookups > 0 && renderLookups(report)],
    ['time', totalCalls(report) > 0 && renderTime(report, asked)],
    ...report.brake
      .filter(({ held }) => held > 0)
      .map((brakeForecast): LabelledText => ['brake', renderBrakeForecast(brakeForecast)]),
    ...report.sample.map(({ key, status, says }): LabelledText => {
      const mapped = status === null ? '' : `status ${status}: `
      return ['sample', `customer ${key}, ${mapped}${says}`]
    }),
    ['stopped', !report.ended && 'not all customers were planned'],
    ['dry run', 'no call was made and nothing was written'],
  ])
}

const WITHOUT: Readonly<Record<NonNullable<ForecastReport['withoutLedger']>, string>> = {
  'not-migrated': 'there is no ledger of this version (`rollcall migrate`)',
  'no-right': 'the role of DATABASE_URL may not read the ledger',
  'no-key': 'ROLLCALL_DIGEST_KEY is not set',
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET'] as const

function renderCalls(calls: Counts): string {
  return METHODS.flatMap((method) => (calls[method] ? [`${method} ${figure(calls[method])}`] : [])).join(', ')
}

function renderLookups({ lookups, afterLookups }: ForecastReport): string {
  const after = renderCalls(afterLookups)
  const expected = after === '' ? 'no other call follows' : `${after} follow`
  return `${figure(lookups)} customers are looked up (GET) first. If each GET shows what rollcall last sent, and no user where it sent none, ${expected}. Any other user gets one update (PATCH or PUT) at most`
}

function renderTime({ pace, seconds }: ForecastReport, asked: BackfillAsked): string {
  const most = asked.rate ?? Number.POSITIVE_INFINITY
  const [rate, ceiling] = [Math.min(pace.rate, most), Math.min(pace.ceiling, most)]
  const rises = rate < ceiling ? `, which rises to ${round(ceiling)}` : ''
  return `about ${span(seconds * 1000)} at ${round(rate)} calls/s${rises}`
}

function round(rate: number): string {
  return rate < 10 ? String(Number(rate.toFixed(2))) : figure(Math.round(rate))
}

function renderBrakeForecast({ kind, customers, through, tripped }: BrakeForecast): string {
  const what = kind === 'create' ? 'registrations' : `customers (${kind})`
  if (tripped)
    return `it holds new ${what} already, all ${figure(customers)} of these too: see \`rollcall held\``
  const lets = `the brake lets ${figure(through)} of ${figure(customers)} ${what} through`
  return kind === 'create'
    ? `${lets}; with --expect-creates ${customers} all of them pass`
    : `${lets}; the others wait for a person (\`rollcall held\`)`
}
