// Forecasts the effect of a sweep, as a sum over all customers that it plans; its size does not depend on how many they are.
import type { BrakeKind } from '../brake/brake.ts'
import type { CustomerKey, FieldIssue } from '../model/customer.ts'
import { entitled, type Fields, OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import type { Counts } from '../model/values.ts'
import { absorbWrite } from '../sync/absorb.ts'
import { kindsOf } from '../sync/brake-kinds.ts'
import { beforeOf } from '../sync/brake-plan.ts'
import { userWithoutConflict } from '../sync/conflict.ts'
import { type CustomerDigests, type Digester, forCustomer } from '../sync/digest.ts'
import { type Memory, NO_CALLS } from '../sync/memory.ts'
import { nextPlan, resultOfCalls, withCall } from '../sync/next-plan.ts'
import { type Call, callFor, isStatusKept, takesAccess } from '../sync/plan.ts'
import { rememberAbsent, rememberSeen } from '../sync/remember.ts'
import type { Policy } from '../sync/write.ts'
import {
  addTo,
  increased,
  type Made,
  NOTHING_FOUND,
  type PlannedCustomer,
  type SweepTally,
} from './verdict.ts'

export type Forecast = Readonly<typeof NO_FORECAST>

export const NO_FORECAST = {
  tally: NOTHING_FOUND as SweepTally,
  /** Calls for those who differ, where a lookup (GET) shows what is expected; see `callsFor`. */
  calls: { GET: 0, POST: 0, PUT: 0, PATCH: 0 },
  /** Customers who are looked up before it is known what follows, and the calls after that lookup among `calls`. */
  lookups: 0,
  afterLookups: {} as Counts<CallMethod>,
  /** Fields that the registrations carry; the sum of what updates write is in `tally`. */
  registered: {} as Counts<OptionalField>,
  /** Among the customers that differ. A registration with access is a gain. */
  access: { gain: 0, lose: 0, change: 0 },
  /** Customers that differ and that the brake would count, by kind, but for those counted in its window already. */
  braked: {} as Counts<BrakeKind>,
  /** Fields of all customers that are left out, by `field: code`. */
  leftOut: {} as Counts,
  /** Customers that stay rejected, or will be, by `field: code` or `shared-user-id`. */
  rejected: {} as Counts,
}

type Planning = { readonly policy: Policy; readonly digester: Digester }

type Forecasting = Planning & {
  /** Kinds under which a customer was let through within the window: it is not counted again. */
  readonly counted: (key: CustomerKey) => readonly BrakeKind[]
}

/** Adds a customer: its verdict counts it, and what follows is asked for those who differ alone. */
export function addCustomer(forecast: Forecast, planned: PlannedCustomer, planning: Forecasting): Forecast {
  const tally = addTo(forecast.tally, planned)
  const { made, verdict, key } = planned
  if (!made) return { ...forecast, tally }
  const { leftOut, rejected } = issuesOf(forecast, made)
  // This command leaves these alone.
  const excluded = verdict === 'never-asked' || verdict === 'not-selected'
  const found = { ...forecast, tally, leftOut, rejected: excluded ? forecast.rejected : rejected }
  if (verdict !== 'differs') return found
  const next = callsFor(made, { key, ...planning })
  const writes = next.calls.filter((method) => method !== 'GET')
  const access = accessChange(made)
  const already = next.kinds.length > 0 ? planning.counted(key) : []
  return {
    ...found,
    calls: next.calls.reduce((calls, method) => increased(calls, method), forecast.calls),
    lookups: forecast.lookups + (next.lookups ? 1 : 0),
    afterLookups: (next.lookups ? writes : []).reduce(increased, forecast.afterLookups),
    registered: next.registered.reduce(increased, forecast.registered),
    access: access ? increased(forecast.access, access) : forecast.access,
    braked: next.kinds.filter((kind) => !already.includes(kind)).reduce(increased, forecast.braked),
  }
}

export function totalCalls({ calls }: Pick<Forecast, 'calls'>): number {
  return calls.GET + calls.POST + calls.PUT + calls.PATCH
}

/** A field issue of a rejected customer is why. */
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

const named = ({ field, code }: FieldIssue) => `${field}: ${code}`

/** By what is remembered; where no access is known of, an update changes none. */
function accessChange({ found: { plan }, memory, mapped }: Made): keyof Forecast['access'] | null {
  if (takesAccess(plan, memory)) return 'lose'
  const known = memory.seenStatus ?? memory.sentStatus
  const had = known === 2 || known === 4
  // A customer who is gone is looked up before the revocation.
  if (mapped.kind !== 'user') return plan.kind === 'lookup' && plan.why !== 'erased' && had ? 'lose' : null
  const { status } = mapped.user
  if (!['create', 'patch', 'replace', 'lookup'].includes(plan.kind) || status === known) return null
  // A trial that goes on, or has ended at the service, is left as it is.
  if (isStatusKept(plan) || (plan.kind === 'lookup' && plan.why === 'trial')) return null
  if (!entitled(status)) return had ? 'lose' : null
  return had ? 'change' : 'gain'
}

type CallMethod = Call['method']

/** Longer than any that can be: a revocation, an erasure, the lookup after it and what that shows. */
const MOST_CALLS = 8

/**
 * A claim after the other until nothing is left to do, decided by the worker's own `nextPlan` and `absorbWrite`.
 * `registered`: fields of a registration; `kinds`: what the brake counts; `lookups`: the calls follow where a lookup (GET) shows
 * what we expect.
 */
export function callsFor(made: Made, { key, policy, digester }: Planning & Pick<PlannedCustomer, 'key'>) {
  const { mapped, claimants } = made
  const digests = forCustomer(digester, key)
  const situation = { mapped, claimants, policy, digests, lookupAfterMs: 0, consistencyDelayMs: 0 }
  const desired = userWithoutConflict(mapped, made.memory)
  const facts = { status: 200, named: [], conflict: false, desired, digests, lookupAfterMs: 0 }
  const before = beforeOf({ ...made, latestRecord: made.record }, policy)
  const calls: CallMethod[] = []
  const kinds = new Set<BrakeKind>()
  let registered: readonly OptionalField[] = []
  let lookups = false
  let { memory } = made
  while (calls.length < MOST_CALLS) {
    const next = nextPlan(memory, situation)
    if ('end' in next) {
      // The lookup after an erasure comes with a claim of its own.
      if (next.plan.kind !== 'lookup' || next.end.kind !== 'retry' || resultOfCalls(memory).lookups > 0) break
      memory = { ...memory, ...NO_CALLS }
      continue
    }
    for (const kind of kindsOf(next.plan, memory, before)) kinds.add(kind)
    calls.push(callFor(next.plan).method)
    const body: Fields | null = next.plan.kind === 'create' ? next.plan.body : null
    if (body) registered = OPTIONAL_FIELDS.filter((field) => body[field] !== undefined)
    if (next.plan.kind === 'lookup') {
      // A lookup for a trial, or after an erasure, is of a user whose state is known.
      lookups ||= memory.remote !== 'present'
      const called = withCall(memory, next.plan, { meaning: 'present', trusted: true })
      memory = afterLookup(called, made, digests)
    } else memory = absorbWrite(memory, 'done', { ...facts, plan: next.plan }).memory
  }
  return { calls, registered, kinds: [...kinds], lookups }
}

/** A user known to be there is there and as we left it; another is not. */
function afterLookup(memory: Memory, made: Made, digests: CustomerDigests): Memory {
  const there =
    memory.remote === 'present' || (memory.remote === 'unknown' && made.record.remote === 'present')
  if (!there) return rememberAbsent(memory)
  const status = memory.seenStatus ?? memory.sentStatus
  const { found, mapped } = made
  // Digests of another key tell nothing: the lookup will find the fields as they are desired, unless they were changed.
  if (!found.comparable && mapped.kind === 'user') {
    const { userId, fields, status: desired } = mapped.user
    const remote = { userId, status: status ?? desired, fields }
    return rememberSeen(memory, remote, mapped.user, digests)
  }
  const erased = memory.erased === null ? null : ('verified' as const)
  return { ...memory, remote: 'present', seenStatus: status, erased, lookedUp: true }
}

type Throttle = Planning & {
  readonly rate: number
  readonly now: () => number
  /** Resolves after the time, or as soon as no one waits any more. */
  readonly sleep: (ms: number) => Promise<void>
}

/** Customers in a page: a page's calls take a second at the most, so that none comes as a burst. */
export function pageFor(rate: number): number {
  return Math.max(1, Math.min(1000, Math.floor(rate)))
}

/** Called after a page was noted: waits as long as its calls take at that rate, at most `mostMs`. Resolves to what is left. */
export function makeThrottle({ rate, policy, digester, now, sleep }: Throttle) {
  let free = now()
  return async (planned: readonly PlannedCustomer[], mostMs: number): Promise<number> => {
    const calls = planned.flatMap(({ key, verdict, made }) =>
      made && verdict === 'differs' ? callsFor(made, { key, policy, digester }).calls : [],
    )
    free = Math.max(free, now()) + (calls.length / rate) * 1000
    await sleep(Math.min(free - now(), mostMs))
    return Math.max(0, free - now())
  }
}
