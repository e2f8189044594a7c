import type { Outlook } from '../brake/outlook.ts'
import type { Config } from '../config/config.ts'
import { redactedPlan } from '../explain/redact.ts'
import type { MappingStatus } from '../ledger/generation.ts'
import type { Unreadable } from '../ledger/readable.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { figure } from '../report/figures.ts'
import { type Counts, type Forecast, totalCalls } from '../sweep/forecast.ts'
import type { Plan } from '../sync/plan.ts'
import type { BackfillAsked } from './backfill-asked.ts'
import { hanging, span } from './render.ts'
import { fitsNobody, NOBODY_FITS, sayTally } from './say-backfill.ts'
import { lines } from './say-status.ts'
import { sayPlan } from './say-step.ts'

export type Sampled = {
  readonly key: CustomerKey
  /** What the mapping makes; null where it makes none. */
  readonly status: number | null
  readonly plan: Plan
  /** Without a value. */
  readonly json: object
}

export type Foretold = {
  readonly forecast: Forecast
  /** False: it was stopped, and the sums are of those whom it had looked at. */
  readonly ended: boolean
  readonly asked: Pick<BackfillAsked, 'mapping' | 'rate' | 'expectCreates' | 'where'>
  /** Null: neither the environment nor the ledger names a service. */
  readonly target: NamedService | null
  /** Why everybody was planned as if nothing had ever been sent; null: they were not. */
  readonly withoutLedger: Unreadable | 'no-key' | null
  readonly standing: MappingStatus | null
  readonly brake: readonly Outlook[]
  /** Calls per second now, and at the most. */
  readonly pace: { readonly rate: number; readonly ceiling: number }
  readonly sample: readonly Sampled[]
  /** Newcomers whose `user_id` another newcomer has as well. */
  readonly sharing: number
}

export function foretellsNobody({ asked, ended, forecast }: Foretold): boolean {
  return fitsNobody({ conditioned: asked.where.length > 0, ended, tally: forecast.tally })
}

/** What would follow, as lines for a person. */
export function sayForetold(foretold: Foretold, { service }: Pick<Config, 'service'>): string[] {
  const { forecast, ended, sample, brake, withoutLedger, target } = foretold
  const { access, registered, leftOut, rejected } = forecast
  return [
    ...lines('service', target ? sayService(target) : `SERVICE_URL is not set (${service.environment})`),
    ...(withoutLedger ? lines('note', WITHOUT[withoutLedger]) : []),
    ...(foretold.standing?.current === false ? lines('note', sayNotApplied(foretold)) : []),
    ...(foretellsNobody(foretold) ? lines('nobody', NOBODY_FITS) : []),
    ...sayTally(forecast.tally, foretold.asked.mapping),
    ...sums('registers', 'with ', registered),
    ...lines(
      'access',
      `${figure(access.gain)} gain it, ${figure(access.lose)} lose it, ${figure(access.change)} change it`,
    ),
    ...sums('left out', '', leftOut),
    ...sums('rejected', '', rejected),
    ...(foretold.sharing > 0 ? lines('warning', saySharing(foretold.sharing)) : []),
    ...sayCalls(forecast),
    ...(totalCalls(forecast) > 0 ? lines('time', sayTime(foretold)) : []),
    ...brake.filter(({ held }) => held > 0).flatMap((each) => lines('brake', sayOutlook(each))),
    ...sample.flatMap(sayOne),
    ...(ended ? [] : lines('stopped', 'not everybody was looked at')),
    ...lines('dry run', 'no call was made and nothing was written'),
  ]
}

const AS_NEW = 'everybody was planned as if nothing had been sent before:'
const WITHOUT: Readonly<Record<NonNullable<Foretold['withoutLedger']>, string>> = {
  'not-migrated': `${AS_NEW} there is no ledger of this version (\`rollcall migrate\`)`,
  'no-right': `${AS_NEW} this role may not read the ledger`,
  'no-key': `${AS_NEW} ROLLCALL_DIGEST_KEY is not set`,
}

function sayNotApplied({ standing }: Foretold): string {
  return `not applied: syncs go by generation ${standing?.generation}; nothing is sent by this mapping before \`rollcall backfill --mapping\``
}

function saySharing(sharing: number): string {
  return `${figure(sharing)} new customers share a user_id with another one of them: each is rejected (shared-user-id) as soon as the other is known, and one of them may have been registered by then. Correct the key, the scope or the rows before you bring them in; the figures here count them as any other`
}

function sums(label: string, before: string, counts: Counts): string[] {
  const entries = Object.entries(counts).toSorted(([, a = 0], [, b = 0]) => b - a)
  if (entries.length === 0) return []
  return lines(label, before + entries.map(([name, n = 0]) => `${figure(n)} × ${name}`).join(', '))
}

function sayCalls({ calls, looks, afterLooks }: Forecast): string[] {
  const each = (counts: Counts) =>
    METHODS.flatMap((method) => (counts[method] ? [`${method} ${figure(counts[method])}`] : [])).join(', ')
  const all = each(calls)
  if (all === '') return lines('calls', 'none')
  if (looks === 0) return lines('calls', all)
  const after = each(afterLooks)
  const expected = after === '' ? 'no other call follows' : `${after} of these follow`
  return [
    ...lines('calls', all),
    ...lines(
      'look first',
      `${figure(looks)} customers are looked at (GET) before it is known what the service has: ${expected} if it has what was sent to it and nobody else; whom it has otherwise gets up to one update (PATCH or PUT) instead`,
    ),
  ]
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET'] as const

function sayTime(foretold: Foretold): string {
  const { rate, ceiling } = paceOf(foretold)
  const rises = rate < ceiling ? `, which rises to ${round(ceiling)}` : ''
  return `about ${span(secondsFor(foretold) * 1000)} at ${round(rate)} calls/s${rises}`
}

function round(rate: number): string {
  return rate < 10 ? String(Number(rate.toFixed(2))) : figure(Math.round(rate))
}

function paceOf({ pace, asked }: Pick<Foretold, 'pace' | 'asked'>): Foretold['pace'] {
  const most = asked.rate ?? Number.POSITIVE_INFINITY
  return { rate: Math.min(pace.rate, most), ceiling: Math.min(pace.ceiling, most) }
}

/** At the present pace, without what is owed already, and with nobody held. */
function secondsFor(foretold: Foretold): number {
  return totalCalls(foretold.forecast) / paceOf(foretold).rate
}

function sayOutlook({ kind, customers, through, tripped }: Outlook): string {
  const what = kind === 'create' ? 'registrations' : `customers (${kind})`
  if (tripped)
    return `it holds new ${what} already, all ${figure(customers)} of these too: see \`rollcall held\``
  const lets = `the brake lets ${figure(through)} of ${figure(customers)} ${what} through`
  return kind === 'create'
    ? `${lets}; --expect-creates ${customers} announces them`
    : `${lets}; the others wait for a person (\`rollcall held\`)`
}

function sayOne({ key, status, plan }: Sampled): string[] {
  const mapped = status === null ? '' : `status ${status}: `
  return hanging('sample       ', `customer ${key}, ${mapped}${sayPlan(redactedPlan(plan))}`)
}

export function foretoldJson(foretold: Foretold): object {
  const { target, forecast, ended, withoutLedger, standing, brake, sample, pace, sharing } = foretold
  const { tally, ...ahead } = forecast
  const seconds = Math.round(secondsFor(foretold))
  return {
    ...{ target, dryRun: true, ended, applied: false, withoutLedger },
    ...{ generation: standing?.generation ?? null, appliedAt: standing?.appliedAt ?? null },
    current: standing?.current ?? null,
    ...tally,
    ...ahead,
    ...{ sharing, brake, pace, seconds },
    sample: sample.map(({ key, status, json }) => ({ key, status, plan: json })),
  }
}
