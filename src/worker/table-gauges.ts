import { HELD_KINDS } from '../brake/brake.ts'
import { roomFor } from '../dispatch/budget.ts'
import { mostAt } from '../dispatch/depth.ts'
import type { Overview } from '../ledger/overview.ts'
import { MISSED_HOW, type SweepsReport } from '../ledger/runs-read.ts'
import { LANE } from '../model/customer.ts'
import { type LabelSets, type Metrics, makeMetrics, type Put } from '../ops/metrics.ts'
import { driftGauges } from './drift-gauges.ts'
import { BRAKE_KINDS, CAUSES, STATES, SWEEP_KINDS } from './label-sets.ts'
import type { BrakeReading, PaceReading, Tables } from './tables.ts'

const LANES = Object.keys(LANE) as (keyof typeof LANE)[]
const STAGES = ['due', 'queued', 'active', 'waiting'] as const

/**
 * What the tables say, as Prometheus text. It is the same in every worker of an installation: take the largest, no sum.
 * What was not read is not shown; a nought would say that all is well.
 */
export function makeTableGauges(): (tables: Tables) => Promise<string> {
  const showOverview = overviewGauges()
  const showSweeps = sweepGauges()
  const showCheck = checkGauges()
  const showBrake = brakeGauges()
  const showPace = paceGauges()
  const showDrift = driftGauges()
  return async ({ overview, sweeps, brake, pace, drift }) => {
    const parts = [
      showOverview(overview),
      showSweeps(sweeps.unfinished),
      showCheck(sweeps),
      brake ? showBrake(brake) : '',
      pace ? showPace(pace, overview.owed.queued) : '',
      drift ? showDrift(drift) : '',
    ]
    return (await Promise.all(parts)).join('')
  }
}

function overviewGauges(): (overview: Overview) => Promise<string> {
  const metrics = makeMetrics({ process: false })
  const owed = labelled(metrics, 'owed', 'Customers to whom a sync is owed', { lane: LANES })
  const stage = labelled(metrics, 'owed_stage', 'The same by what happens next', { stage: STAGES })
  const oldest = plain(
    metrics,
    'oldest_owed_age_seconds',
    'Age of the oldest change that is not settled; 0: none',
  )
  const waits = plain(
    metrics,
    'waits_for_worker_seconds',
    'How long the longest due waits for a worker; backfill only while nothing is under way; 0: calls are stopped',
  )
  const unknown = plain(
    metrics,
    'unknown_customers',
    'Owed customers of whom it is unknown what the service holds',
  )
  const states = labelled(metrics, 'customers', 'Customers by state', { state: STATES })
  const rows = plain(metrics, 'outbox_rows', 'Captured changes that nobody has noted yet')
  const bytes = plain(metrics, 'outbox_bytes', 'Size of the outbox on disk')
  const age = plain(
    metrics,
    'outbox_oldest_age_seconds',
    'Age of the oldest change that is not noted; 0: none',
  )
  const leases = plain(metrics, 'queue_leases', 'Jobs that were put on the queue and that nobody has claimed')

  return ({ customers, ...overview }) => {
    for (const lane of LANES) owed({ lane }, overview.owed[lane])
    for (const each of STAGES) stage({ stage: each }, overview.owed[each])
    oldest(seconds(overview.owed.oldestAgeMs))
    waits(seconds(overview.owed.waitsForWorkerMs))
    unknown(overview.unknown)
    const counted: Readonly<Record<string, number>> = overview.states
    const known = Object.values(counted).reduce((sum, n) => sum + n, 0)
    for (const state of STATES)
      states({ state }, state === 'new' ? Math.max(0, customers - known) : (counted[state] ?? 0))
    rows(overview.outbox.rows)
    bytes(overview.outbox.bytes)
    age(seconds(overview.outbox.oldestAgeMs))
    leases(overview.owed.queued)
    return metrics.text()
  }
}

function sweepGauges(): (unfinished: SweepsReport['unfinished']) => Promise<string> {
  const metrics = makeMetrics({ process: false })
  const looked = labelled(
    metrics,
    'sweep_customers',
    'Customers whom an unfinished look at everybody has looked at; 0: none is under way, or it has just begun',
    { kind: SWEEP_KINDS },
  )
  return (unfinished) => {
    const customers = new Map(unfinished.map((sweep) => [sweep.kind, sweep.customers]))
    for (const kind of SWEEP_KINDS) looked({ kind }, customers.get(kind) ?? 0)
    return metrics.text()
  }
}

function checkGauges(): (sweeps: SweepsReport) => Promise<string> {
  const metrics = makeMetrics({ process: false })
  const missed = labelled(
    metrics,
    'capture_missed',
    'Customers whose change nothing had captured, as the last check of capture found, and looks at some since',
    { how: MISSED_HOW },
  )
  const dated = makeMetrics({ process: false })
  const age = plain(dated, 'capture_check_age_seconds', 'How long ago capture was last checked')
  return async ({ check, missedSince }) => {
    // Never checked, a nought would say that it has missed nothing.
    if (!check && MISSED_HOW.every((how) => missedSince[how] === 0)) return ''
    for (const how of MISSED_HOW) missed({ how }, (check?.missed[how] ?? 0) + missedSince[how])
    if (!check) return metrics.text()
    age(seconds(check.silentMs))
    return (await metrics.text()) + (await dated.text())
  }
}

function brakeGauges(): (brake: readonly BrakeReading[]) => Promise<string> {
  const metrics = makeMetrics({ process: false })
  const held = labelled(
    metrics,
    'held_customers',
    'Customers who wait for a person; one who waits for several reasons counts in each',
    { kind: HELD_KINDS },
  )
  const tripped = labelled(metrics, 'brake_tripped', '1: changes of this kind wait for a person', {
    kind: BRAKE_KINDS,
  })

  return (brake) => {
    const heldBy = new Map(brake.map(({ kind, held: customers }) => [kind, customers]))
    const trippedKinds = new Set(brake.filter(({ trippedAt }) => trippedAt !== null).map(({ kind }) => kind))
    for (const kind of HELD_KINDS) held({ kind }, heldBy.get(kind) ?? 0)
    for (const kind of BRAKE_KINDS) tripped({ kind }, trippedKinds.has(kind) ? 1 : 0)
    return metrics.text()
  }
}

function paceGauges(): (pace: PaceReading, queued: number) => Promise<string> {
  const metrics = makeMetrics({ process: false })
  const rate = plain(metrics, 'pace_rate', 'Calls per second that all workers together may make now')
  const ceiling = plain(metrics, 'pace_ceiling', 'Calls per second that they may make at most')
  const hold = plain(metrics, 'pace_hold_seconds', 'For how long the service has asked everybody to wait')
  const room = plain(
    metrics,
    'queue_room',
    "Jobs that are missing on the queue for a second's worth at the present pace; no more than is soon done is put there",
  )
  const open = labelled(metrics, 'breaker_open', '1: nobody calls the service but for a probe', {
    cause: CAUSES,
  })
  const trying = plain(metrics, 'breaker_trying', '1: calls are made again after an outage, slowly at first')

  return (pace, queued) => {
    rate(pace.rate)
    ceiling(pace.ceiling)
    hold(seconds(pace.heldForMs))
    for (const cause of CAUSES) open({ cause }, pace.breaker === 'open' && pace.cause === cause ? 1 : 0)
    trying(pace.breaker === 'trying' ? 1 : 0)
    const stopped = pace.heldForMs > 0 || pace.breaker === 'open'
    room(stopped ? 0 : roomFor(mostAt(pace.rate), queued))
    return metrics.text()
  }
}

function plain(metrics: Metrics, name: string, help: string): (amount: number) => void {
  const put: Put<never> = metrics.gauge({ name, help, labels: {} })
  return (amount) => put({}, amount)
}

/** Every value of every label is set at each reading, so that none is left over from the one before. */
function labelled<L extends string>(
  metrics: Metrics,
  name: string,
  help: string,
  labels: LabelSets<L>,
): Put<L> {
  return metrics.gauge({ name, help, labels })
}

function seconds(ms: number | null): number {
  return ms === null ? 0 : Math.max(0, ms / 1000)
}
