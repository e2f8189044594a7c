// What metrics show of the tables, as a table: name, sentence, and how it is read off.
import { HELD_KINDS } from '../brake/brake.ts'
import { roomFor } from '../dispatch/budget.ts'
import { mostAt } from '../dispatch/depth.ts'
import { MISSED_HOW } from '../ledger/runs-read.ts'
import { LANE } from '../model/customer.ts'
import { makeMetrics } from '../ops/metrics.ts'
import { BRAKE_KINDS, BREAKER_CAUSES, STATES, SWEEP_KINDS } from './label-sets.ts'
import type { Tables } from './tables.ts'

/** None: it was not read, and is not shown; a nought would say that all is well. */
type Read<Value> = (tables: Tables) => Value | null | undefined
type Values = Readonly<Record<string, number>>
type Gauge = {
  readonly name: string
  readonly help: string
  readonly label: string | null
  readonly read: Read<number | Values>
}

/** `name`: without the prefix. */
function one(name: string, help: string, read: Read<number>): Gauge {
  return { name, help, label: null, read }
}

/** `label`: what tells its values apart. */
function many(name: string, help: string, label: string, read: Read<Values>): Gauge {
  return { name, help, label, read }
}

const LANES = Object.keys(LANE) as (keyof typeof LANE)[]
const STAGES = ['due', 'queued', 'active', 'waiting'] as const

function each<Name extends string>(names: readonly Name[], amount: (name: Name) => number) {
  return Object.fromEntries(names.map((name) => [name, amount(name)]))
}

function seconds(ms: number | null | undefined): number {
  return Math.max(0, (ms ?? 0) / 1000)
}

const LEDGER: readonly Gauge[] = [
  many('owed', 'Customers to whom a sync is owed', 'lane', ({ overview: { owed } }) =>
    each(LANES, (lane) => owed[lane]),
  ),
  many('owed_stage', 'The same by what happens next', 'stage', ({ overview: { owed } }) =>
    each(STAGES, (stage) => owed[stage]),
  ),
  one('oldest_owed_age_seconds', 'Age of the oldest change that is not settled; 0: none', ({ overview }) =>
    seconds(overview.owed.oldestAgeMs),
  ),
  one(
    'waits_for_worker_seconds',
    'How long the longest due waits for a worker; backfill only while nothing is under way; 0: calls are stopped',
    ({ overview }) => seconds(overview.owed.waitsForWorkerMs),
  ),
  one(
    'unknown_customers',
    'Owed customers of whom it is unknown what the service holds',
    ({ overview }) => overview.unknown,
  ),
  many('customers', 'Customers by state', 'state', ({ overview: { states, customers } }) => {
    const counted: Readonly<Record<string, number>> = states
    const known = Object.values(counted).reduce((sum, n) => sum + n, 0)
    return { ...each(STATES, (state) => counted[state] ?? 0), new: Math.max(0, customers - known) }
  }),
  one('outbox_rows', 'Captured changes that nobody has noted yet', ({ overview }) => overview.outbox.rows),
  one('outbox_bytes', 'Size of the outbox on disk', ({ overview }) => overview.outbox.bytes),
  one('outbox_oldest_age_seconds', 'Age of the oldest change that is not noted; 0: none', ({ overview }) =>
    seconds(overview.outbox.oldestAgeMs),
  ),
  one(
    'queue_leases',
    'Jobs that were put on the queue and that nobody has claimed',
    ({ overview }) => overview.owed.queued,
  ),
]

const SWEEPS: readonly Gauge[] = [
  many(
    'sweep_customers',
    'Customers whom an unfinished look at everybody has looked at; 0: none is under way, or it has just begun',
    'kind',
    ({ sweeps: { unfinished } }) =>
      each(SWEEP_KINDS, (kind) => unfinished.find((sweep) => sweep.kind === kind)?.customers ?? 0),
  ),
  many(
    'capture_missed',
    'Customers whose change nothing had captured, as the last check of capture found, and looks at some since',
    'how',
    ({ sweeps: { check, missedSince } }) => {
      const missed = each(MISSED_HOW, (how) => (check?.missed[how] ?? 0) + missedSince[how])
      return check || Object.values(missed).some((count) => count > 0) ? missed : null
    },
  ),
  one(
    'capture_check_age_seconds',
    'How long ago capture was last checked',
    ({ sweeps: { check } }) => check && seconds(check.silentMs),
  ),
]

const BRAKE: readonly Gauge[] = [
  many(
    'held_customers',
    'Customers who wait for a person; one who waits for several reasons counts in each',
    'kind',
    ({ brake }) => brake && each(HELD_KINDS, (kind) => brake.find((of) => of.kind === kind)?.held ?? 0),
  ),
  many(
    'brake_tripped',
    '1: changes of this kind wait for a person',
    'kind',
    ({ brake }) =>
      brake &&
      each(BRAKE_KINDS, (kind) => (brake.some((of) => of.kind === kind && of.trippedAt !== null) ? 1 : 0)),
  ),
]

const PACE: readonly Gauge[] = [
  one('pace_rate', 'Calls per second that all workers together may make now', ({ pace }) => pace?.rate),
  one('pace_ceiling', 'Calls per second that they may make at most', ({ pace }) => pace?.ceiling),
  one(
    'pace_hold_seconds',
    'For how long the service has asked everybody to wait',
    ({ pace }) => pace && seconds(pace.heldForMs),
  ),
  one(
    'queue_room',
    "Jobs that are missing on the queue for a second's worth at the present pace; no more than is soon done is put there",
    ({ pace, overview }) => {
      if (!pace) return null
      const stopped = pace.heldForMs > 0 || pace.breaker === 'open'
      return stopped ? 0 : roomFor(mostAt(pace.rate), overview.owed.queued)
    },
  ),
  many(
    'breaker_open',
    '1: nobody calls the service but for a probe',
    'cause',
    ({ pace }) =>
      pace && each(BREAKER_CAUSES, (cause) => (pace.breaker === 'open' && pace.cause === cause ? 1 : 0)),
  ),
  one(
    'breaker_trying',
    '1: calls are made again after an outage, slowly at first',
    ({ pace }) => pace && (pace.breaker === 'trying' ? 1 : 0),
  ),
]

const DRIFT: readonly Gauge[] = [
  one(
    'verifiable_customers',
    'Customers whom a look at the service can say something about',
    ({ drift }) => drift?.coverage.customers,
  ),
  one(
    'verified_customers',
    'Of these, who was looked at within reconcile.period',
    ({ drift }) => drift?.coverage.within,
  ),
  one(
    'verification_overdue_customers',
    'Of these, who should have been looked at by now',
    ({ drift }) => drift?.coverage.overdue,
  ),
  one(
    'oldest_verified_age_seconds',
    'How long ago the longest ago of all looks was; 0: none yet',
    ({ drift }) => drift && seconds(drift.coverage.oldestAgeMs),
  ),
  many(
    'findings',
    'Confirmed differences at the service that are open and can be believed, by kind',
    'kind',
    ({ drift }) => drift?.open,
  ),
  many(
    'wrong_access',
    'Of these and of whoever the brake holds, customers without the access that they should have (lost), or with one that they should not (undue)',
    'access',
    ({ drift }) => drift?.access,
  ),
  one(
    'answers_doubted',
    '1: what the service answers to the looks cannot be believed',
    ({ drift }) => drift && (drift.doubt === null ? 0 : 1),
  ),
  many(
    'commit_to_verified_seconds',
    'From the commit of a change to the look that showed all of it, of the last thousand; 0: none yet',
    'quantile',
    ({ drift }) => {
      const proof = drift?.coverage.proof
      return drift && { '0.5': seconds(proof?.medianMs), '0.95': seconds(proof?.p95Ms) }
    },
  ),
]

const GAUGES: readonly Gauge[] = [...LEDGER, ...SWEEPS, ...BRAKE, ...PACE, ...DRIFT]

/** As Prometheus text. It is the same in every worker of an installation: take the largest, no sum. */
export async function showTables(tables: Tables): Promise<string> {
  const metrics = makeMetrics({ process: false })
  for (const { name, help, label, read } of GAUGES) {
    const value = read(tables) ?? null
    if (typeof value === 'number') metrics.gauge({ name, help, labels: {} })({}, value)
    else if (value !== null && label !== null) {
      const put = metrics.gauge({ name, help, labels: { [label]: Object.keys(value) } })
      for (const [of, amount] of Object.entries(value)) put({ [label]: of }, amount)
    }
  }
  return await metrics.text()
}
