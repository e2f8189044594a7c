// What would follow a sweep, as a sum over everybody whom it judges; its size does not depend on how many they are.
import type { BrakeKind } from '../brake/brake.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { entitled, type OptionalField } from '../model/user.ts'
import type { Digester } from '../sync/digest.ts'
import { takesAccess } from '../sync/plan.ts'
import type { Policy } from '../sync/policy.ts'
import { type CallMethod, callsAhead } from './ahead.ts'
import type { Judged, Made } from './judge.ts'
import { addTo, increased, NOTHING_FOUND, type SweepTally } from './tally.ts'

export type Counts<K extends string = string> = Readonly<Partial<Record<K, number>>>

export type Forecast = {
  readonly tally: SweepTally
  /** Calls for those who differ, where a look (GET) shows what is expected; see ahead.ts. */
  readonly calls: Readonly<Record<CallMethod, number>>
  /** Customers who are looked at before it is known what follows, and the calls after that look among `calls`. */
  readonly looks: number
  readonly afterLooks: Counts<CallMethod>
  /** Fields that the registrations carry; the sum of what updates write is in `tally`. */
  readonly registered: Counts<OptionalField>
  /** Of those who differ. A registration with access is a gain. */
  readonly access: { readonly gain: number; readonly lose: number; readonly change: number }
  /** Of those who differ: whom the brake counts, by kind, who are not counted within its window already. */
  readonly braked: Counts<BrakeKind>
  /** Of everybody: fields that are left out, by `field: code`. */
  readonly leftOut: Counts
  /** Of everybody: who is not sent at all, by `field: code` or `shared-user-id`. */
  readonly rejected: Counts
}

export const NOTHING_AHEAD: Forecast = {
  tally: NOTHING_FOUND,
  calls: { GET: 0, POST: 0, PUT: 0, PATCH: 0 },
  looks: 0,
  afterLooks: {},
  registered: {},
  access: { gain: 0, lose: 0, change: 0 },
  braked: {},
  leftOut: {},
  rejected: {},
}

type Forecasting = {
  readonly policy: Policy
  readonly digester: Digester
  /** Kinds under which a customer was let through within the window: it is not counted again. */
  readonly counted: (key: CustomerKey) => readonly BrakeKind[]
}

/** Adds a customer: what it is told by is its verdict, and what follows is asked for those who differ alone. */
export function addAhead(forecast: Forecast, judged: Judged, forecasting: Forecasting): Forecast {
  const tally = addTo(forecast.tally, judged)
  const { made, verdict, key } = judged
  if (!made) return { ...forecast, tally }
  const found = { ...forecast, tally, ...issuesOf(forecast, made) }
  if (verdict !== 'differs') return found
  const ahead = callsAhead(made, { key, ...forecasting })
  const access = accessChange(made)
  const already = ahead.kinds.length > 0 ? forecasting.counted(key) : []
  return {
    ...found,
    calls: ahead.calls.reduce((calls, method) => increased(calls, method), forecast.calls),
    looks: forecast.looks + (ahead.looks ? 1 : 0),
    afterLooks: (ahead.looks ? ahead.calls.filter((method) => method !== 'GET') : []).reduce(
      increased,
      forecast.afterLooks,
    ),
    registered: ahead.registered.reduce(increased, forecast.registered),
    access: access ? increased(forecast.access, access) : forecast.access,
    braked: ahead.kinds.filter((kind) => !already.includes(kind)).reduce(increased, forecast.braked),
  }
}

export function totalCalls({ calls }: Pick<Forecast, 'calls'>): number {
  return calls.GET + calls.POST + calls.PUT + calls.PATCH
}

/** A field issue of somebody who is rejected is why. */
function issuesOf(forecast: Forecast, { mapped, found }: Made): Pick<Forecast, 'leftOut' | 'rejected'> {
  const { leftOut, rejected } = forecast
  if (mapped.kind === 'rejected') {
    const [first] = mapped.issues
    return { leftOut, rejected: first ? increased(rejected, named(first)) : rejected }
  }
  if (found.plan.kind === 'reject') return { leftOut, rejected: increased(rejected, found.plan.code) }
  if (mapped.kind !== 'user' || mapped.issues.length === 0) return { leftOut, rejected }
  return { leftOut: mapped.issues.map(named).reduce(increased, leftOut), rejected }
}

function named({ field, code }: FieldIssue): string {
  return `${field}: ${code}`
}

/** By what is remembered; where no access is known of, an update changes none. */
function accessChange({ found: { plan }, memory, mapped }: Made): keyof Forecast['access'] | null {
  if (takesAccess(plan, memory)) return 'lose'
  const known = memory.seenStatus ?? memory.sentStatus
  const had = known === 2 || known === 4
  // A customer who is gone is looked at before the revocation.
  if (mapped.kind !== 'user') return plan.kind === 'lookup' && plan.why !== 'erased' && had ? 'lose' : null
  const { status } = mapped.user
  if (!['create', 'patch', 'replace', 'lookup'].includes(plan.kind) || status === known) return null
  // A trial that goes on, or has ended at the service, is left as it is.
  if (('carried' in plan && plan.carried) || (plan.kind === 'lookup' && plan.why === 'trial')) return null
  if (!entitled(status)) return had ? 'lose' : null
  return had ? 'change' : 'gain'
}
