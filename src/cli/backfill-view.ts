// The lines of a backfill and its dry run for a person; the values are what --json prints.
import type { Expected } from '../brake/expected.ts'
import type { BrakeForecast } from '../brake/forecast.ts'
import { MAPPING_INACTIVE, NO_DIGEST_KEY } from '../explain/verdicts.ts'
import type { Overview } from '../ledger/overview.ts'
import { renderService } from '../model/service.ts'
import type { Counts } from '../model/values.ts'
import { counted, figure, minute, renderRate } from '../report/figures.ts'
import { totalCalls } from '../sweep/forecast.ts'
import type { SweepTally } from '../sweep/verdict.ts'
import type { Plan } from '../sync/plan.ts'
import { renderCustomers } from './attention.ts'
import { type BackfillAsked, fitsNone, renderMapping } from './backfill-asked.ts'
import type { forecastBackfill } from './backfill-dry-run.ts'
import type { runBackfill } from './backfill-run.ts'
import { applying, definitions, type Labelled, renderCounts, span } from './render.ts'
import { renderReasons } from './render-failures.ts'
import { allMissed, renderExamples, renderMissed, SYNCED_NOW } from './render-sweeps.ts'

type BackfillReport = Awaited<ReturnType<typeof runBackfill>>
type ForecastReport = Awaited<ReturnType<typeof forecastBackfill>>

export const NONE_FITS = 'no customer fits --where: check the condition'

export function renderBackfill(report: BackfillReport, asked: BackfillAsked): string[] {
  const { ended, applied, expected, waited, missed, verdicts } = report
  const about = {
    service: renderService(report.target),
    mapping: `${renderMapping(report)}${applied ? ' (activated by this command)' : ''}`,
  }
  if (fitsNone(report, asked)) return definitions(about, { note: NONE_FITS })
  const done = {
    missed:
      allMissed(missed) > 0 &&
      `capture has missed ${renderMissed(missed)}${renderExamples(report.examples)}. ${SYNCED_NOW}`,
    expected: expected && renderExpected(expected, asked.expectCreates),
    stopped: !ended && whyStopped(report, asked),
    done: ended && !waited && renderDone(verdicts.differs),
  }
  const settled = waited ? waitedEntries(waited, verdicts.unreadable) : []
  return definitions(about, tallied(report, asked), done, ...settled)
}

function renderDone(differ: number): string {
  if (differ === 0) return 'this command requested no sync'
  const owed = counted(differ, 'customer is', 'customers are')
  return `${owed} owed a sync now: \`rollcall status\` shows the progress, --wait waits for the end`
}

function tallied(tally: SweepTally, { mapping }: BackfillAsked): Labelled {
  const { verdicts, waiting, owedAndChanged } = tally
  const plans = Object.fromEntries(PLANS.map(([kind, words]) => [words, tally.plans[kind] ?? 0]))
  const byRow =
    owedAndChanged > 0
      ? `; the row or the mapping of ${figure(owedAndChanged)} of them has changed since the last sync`
      : ''
  const bringsIn = mapping ? ': run `rollcall backfill` to sync them' : ''
  const some: readonly (readonly [label: string, count: number, text: string])[] = [
    ['lose access', tally.loseAccess, ', unless the brake holds them'],
    ['user_id', tally.otherUsers, ' with a new user_id; users with the old one keep their access'],
    ['owed', verdicts.owed, ` already owed a sync${byRow}`],
    ['later', verdicts['another-time'], ' without a call now. A worker maps a row again at its validUntil'],
    ['never synced', verdicts['never-asked'], `, skipped by this command${bringsIn}`],
    ['left alone', verdicts['not-selected'], ' with a difference, excluded by --only'],
    ['held', waiting.held, ' already held by the brake: see `rollcall held`'],
    [
      'rejected',
      waiting.rejected,
      ', rejected before and not retried by this command: see `rollcall failures`',
    ],
    ['discarded', waiting.discarded, ' with a change that a person discarded: see `rollcall held log`'],
    ['out of scope', tally.neverInScope, ', never in scope: access at the service stays as it is'],
    ['unreadable', verdicts.unreadable, ' with a row that cannot be read: see `rollcall failures`'],
  ]
  return {
    customers: `${figure(tally.customers)} compared`,
    differ: `${counted(verdicts.differs, 'customer')}${verdicts.owed > 0 ? ', besides those already owed' : ''}${listed(' ', plans, ': ')}`,
    fields: listed(' × ', tally.fields, 'to send for registered users: '),
    ...Object.fromEntries(
      some.map(([label, count, text]) => [label, count > 0 && `${counted(count, 'customer')}${text}`]),
    ),
  }
}

const PLANS: readonly (readonly [Plan['kind'], string])[] = [
  ['create', 'to create'],
  ['lookup', 'to look up'],
  ['patch', 'to update (PATCH)'],
  ['replace', 'to replace (PUT)'],
  ['revoke', 'to revoke'],
  ['erase', 'to erase'],
  ['reject', 'to reject'],
  ['none', 'to note in the ledger without a call'],
]

/** The most frequent first; nothing where all are 0. */
function listed(between: string, counts: Counts, before = ''): string {
  const sorted = Object.entries(counts).toSorted(([, a = 0], [, b = 0]) => b - a)
  const text = renderCounts(Object.fromEntries(sorted), between)
  return text && before + text
}

export function renderExpected(
  { set, left, until, over, trippedAt }: Expected,
  asked: number | null = null,
): string {
  const of =
    asked === null || asked === left
      ? ''
      : ` (of the ${figure(asked)} pre-approved, the others are used or not needed)`
  if (trippedAt !== null)
    return `the pre-approval (--expect-creates) has no effect, because the brake tripped at ${minute(trippedAt)}: see \`rollcall held\``
  if (over)
    return `the pre-approval ended at ${minute(until ?? '')}; \`rollcall backfill --restart --expect-creates N\` sets a new one`
  if (left === 0)
    return 'no pre-approved registration is left. All have passed the brake or are not needed, or a person has reset the brake'
  return set
    ? `${counted(left, 'registration')} may pass the brake until ${minute(until ?? '')}${of}`
    : `${counted(left, 'earlier pre-approved registration is', 'earlier pre-approved registrations are')} not used yet, so the number stays; \`rollcall backfill --restart --expect-creates N\` sets a new one`
}

function whyStopped({ generation, current, superseded }: BackfillReport, { mapping }: BackfillAsked): string {
  const why = () => {
    if (generation !== null && !current) return 'another mapping was activated meanwhile'
    if (superseded) return 'another backfill has replaced it'
    if (mapping) return 'run the command again to continue, or let a worker with this configuration continue'
    return 'run the same command again to continue; --restart starts over'
  }
  return `not all customers are compared: ${why()}`
}

function waitedEntries(waited: NonNullable<BackfillReport['waited']>, unreadable: number): Labelled[] {
  const unsettled = unsettledOf(waited, unreadable)
  const { states, reasons, open, ended } = waited
  const isDone = unsettled + open === 0
  const { rejected, held, failing, released, owed } = states
  const parts = { failing: Math.max(failing, unreadable), rejected, held, released, 'owed a sync': owed }
  const views = [
    parts.failing + rejected > 0 && '`rollcall failures`',
    held > 0 && '`rollcall held`',
    released + owed > 0 && '`rollcall status`',
  ]
  return [
    { now: renderCustomers(waited) },
    renderReasons(reasons),
    {
      stopped:
        !ended &&
        `this command was stopped while it waited; ${counted(open, 'customer is', 'customers are')} still owed a sync${open > owed ? '; some of them were rejected, held or failing before' : ''}: \`rollcall status\` shows the progress`,
      'not settled':
        ended && !isDone && `${listed(' ', parts)}: see ${applying(views).join(', ') || '`rollcall status`'}`,
      done: ended && isDone && 'all customers of the backfill are settled',
    },
  ]
}

/** An unreadable row makes its customer fail, at the latest when a worker takes it: it is counted once. */
export function unsettledOf({ states }: Pick<Overview, 'states'>, unreadable: number): number {
  return states.rejected + Math.max(states.failing, unreadable) + states.held
}

export function renderForecast(report: ForecastReport, asked: BackfillAsked): string[] {
  const { target, withoutLedger, sharing } = report
  const installed = report.generation !== null
  const { gain, lose, change } = report.access
  const holds = report.brake.some(({ held }) => held > 0)
  return definitions({
    service: target ? renderService(target) : 'SERVICE_URL is not set',
    mapping: installed && renderMapping(report),
    note: [
      withoutLedger && `this dry run assumes that nothing was sent before: ${WITHOUT[withoutLedger]}`,
      installed && !report.current && MAPPING_INACTIVE,
      fitsNone(report, asked) && NONE_FITS,
    ],
    ...tallied(report, asked),
    'lose access': false,
    'new users': listed(' × ', report.registered, 'fields to send: '),
    access: `${counted(gain, 'customer gains', 'customers gain')} access, ${figure(lose)} lose it, ${figure(change)} switch between trial and full`,
    'left out': listed(' × ', report.leftOut),
    reasons: listed(' × ', report.rejected, 'of rejections: '),
    warning:
      sharing > 0 &&
      `${figure(sharing)} new customers share their user_id with another new customer, so they will be rejected (shared-user-id). The numbers here do not consider this. First correct the mapping of user_id, the scope or the rows`,
    calls: `${listed(' × ', report.calls) || 'none'}${holds ? ', including calls that the brake would hold' : ''}`,
    lookups: report.lookups > 0 && renderLookups(report),
    time: totalCalls(report) > 0 && renderTime(report, asked),
    brake: [
      ...report.brake.filter(({ held }) => held > 0).map((each) => renderBrakeForecast(each, asked.mapping)),
      holds && '`rollcall held --help` explains the kinds of change',
    ],
    sample: report.sample.map(
      ({ key, status, says }) => `customer ${key}, ${status === null ? '' : `status ${status}: `}${says}`,
    ),
    stopped: !report.ended && 'not all customers are compared: the numbers are of those compared so far',
    'dry run': 'no call was made and nothing was written',
  })
}

const WITHOUT: Readonly<Record<NonNullable<ForecastReport['withoutLedger']>, string>> = {
  'not-migrated': "rollcall's tables are missing or of another version: run `rollcall migrate`",
  'no-right': 'the role of DATABASE_URL may not read the ledger',
  'no-key': NO_DIGEST_KEY,
}

function renderLookups({ lookups, afterLookups }: ForecastReport): string {
  const after = listed(' × ', afterLookups)
  return `${counted(lookups, 'GET')}, for users whose state is not known. Expected after ${lookups === 1 ? 'it' : 'them'}: ${after ? `${after} (included in "calls")` : 'no call'}${(afterLookups.POST ?? 0) > 0 ? '. If the service already has a user, rollcall updates it if necessary, and does not create it' : ''}`
}

function renderTime({ pace, seconds }: ForecastReport, asked: BackfillAsked): string {
  const most = asked.rate ?? Number.POSITIVE_INFINITY
  const [rate, ceiling] = [Math.min(pace.rate, most), Math.min(pace.ceiling, most)]
  const rises = rate < ceiling ? `, which rises to ${renderRate(ceiling)}` : ''
  return `about ${span(Math.max(1, seconds) * 1000)} at ${renderRate(rate)}${rises}`
}

type Braked = Pick<BrakeForecast, 'kind' | 'customers' | 'through' | 'tripped'>

function renderBrakeForecast({ kind, customers, through, tripped }: Braked, mapping: boolean): string {
  const what = kind === 'create' ? 'registrations' : `changes of kind ${kind}`
  if (tripped) return `the brake would hold all ${what} (${figure(customers)}): \`rollcall status\` says why`
  const all = kind === 'create' && !mapping ? `; with --expect-creates ${customers} all of them pass` : ''
  return `the brake would let ${figure(through)} of ${figure(customers)} ${what} through, and hold the rest${all}`
}
