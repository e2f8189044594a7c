// Metrics of the tables: how they are read, and which gauges are made of them.
import type { Pool } from 'pg'
import { HELD_KINDS } from '../brake/brake.ts'
import { type KindHeld, readBrake } from '../brake/list.ts'
import { endPool, makePool } from '../database/pool.ts'
import { mostAt, roomFor } from '../dispatch/depth.ts'
import { readVerification, type VerificationReport } from '../drift/coverage.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { MISSED_HOW, readSweeps, type SweepsReport } from '../ledger/runs.ts'
import { LANE } from '../model/customer.ts'
import { makeMetrics } from '../ops/metrics.ts'
import { isStopped, type PaceReport, readPace } from '../pace/read.ts'

export type Tables = {
  readonly overview: Overview
  readonly sweeps: SweepsReport
  readonly brake: readonly Pick<KindHeld, 'kind' | 'held' | 'trippedAt'>[]
  /** Null: no worker has set a pace yet. */
  readonly pace: Pick<PaceReport, 'ceiling' | 'rate' | 'heldForMs' | 'breaker' | 'cause'> | null
  readonly drift: Pick<VerificationReport, 'coverage' | 'open' | 'access' | 'notCredible'>
}

type Options = {
  readonly url: string
  readonly periodMs: number | null
  readonly onPoolError: (error: Error) => void
}

/** One for what may be slow, and one for the question whether the database answers. */
const CONNECTIONS = 2
/** A large ledger takes a second; a lock of another session must not. */
const STATEMENT_MS = 10_000
/** A network that swallows everything would keep a query for a quarter of an hour. */
const CUT_MS = 15_000

/** Reads on connections of its own, so that neither the metrics wait for a busy worker nor the worker for them. */
export function openTables({ url, periodMs, onPoolError }: Options) {
  let pool: Pool | null = null

  async function close(): Promise<void> {
    const ended = pool
    pool = null
    if (ended) await endPool(ended, 0)
  }

  async function inTime<T>(ask: (pool: Pool) => Promise<T>): Promise<T> {
    pool ??= makePool({
      ...{ url, max: CONNECTIONS, applicationName: 'rollcall metrics' },
      ...{ statementTimeoutMs: STATEMENT_MS, onError: onPoolError },
    })
    const cut = setTimeout(() => void close().catch(onPoolError), CUT_MS)
    try {
      return await ask(pool)
    } finally {
      clearTimeout(cut)
    }
  }

  return {
    read: (): Promise<Tables> =>
      inTime(async (asked) => ({
        overview: await readOverview(asked),
        sweeps: await readSweeps(asked),
        brake: await readBrake(asked),
        pace: await readPace(asked),
        drift: await readVerification(asked, periodMs),
      })),
    ping: (): Promise<boolean> => inTime(async (asked) => (await asked.query('SELECT 1')).rowCount === 1),
    close,
  }
}

const HELP = {
  owed: 'Customers with an owed sync, by lane',
  owed_stage: 'Customers with an owed sync, by stage',
  oldest_owed_age_seconds: 'Age in seconds of the oldest change that waits for a sync; 0: none waits',
  waits_for_worker_seconds:
    'Seconds that the longest-waiting due customer has waited for a worker; 0: none waits, or calls are stopped',
  unknown_customers:
    'Customers with an owed sync that begins with a lookup, because the last outcome is unknown',
  customers: 'Customers by state',
  outbox_rows: 'Captured changes in the outbox that no worker has taken yet',
  outbox_bytes: 'Size of the outbox on disk, in bytes',
  outbox_oldest_age_seconds: 'Age in seconds of the oldest change in the outbox; 0: none',
  queue_leases: 'Customers whose lease is on the queue and not claimed by a worker yet',
  sweep_customers:
    'Customers that the unfinished sweep has compared so far; 0: no sweep runs, or it has just begun',
  capture_missed:
    'Customers with a change that the triggers missed, found since the last check of capture began (by that check or by a later comparison)',
  capture_check_age_seconds:
    'Seconds since the last check of capture: a comparison of all customers with the ledger',
  held_customers:
    'Customers that the brake holds until a person decides; a customer held for several kinds counts in each kind',
  brake_tripped: '1: the brake has tripped for this kind of change, and holds further changes',
  pace_rate: 'Calls per second that all workers together may make at present',
  pace_ceiling: 'The highest possible value of rollcall_pace_rate, in calls per second',
  pace_hold_seconds: 'Seconds that all workers still wait because of a `Retry-After`',
  queue_room: 'Number of leases that workers may still put on the queue at the present rate',
  breaker_open:
    '1: the circuit breaker is open: the service fails, and workers make only probes (test calls)',
  breaker_trying: '1: after an outage workers make calls again, slowly at first',
  verifiable_customers:
    'Customers that workers check: synced or looked up before, and not rejected, held or discarded',
  verified_customers: 'Customers that workers check, with the last check within reconcile.period',
  verification_overdue_customers:
    'Customers that workers check, but not within reconcile.period; always 0 during the first period',
  oldest_verified_age_seconds:
    'Seconds since the last check of the customer that was checked longest ago, of those that workers check; 0: no check yet',
  findings:
    'Open findings, by kind (trial-ended is no drift); while rollcall_answers_not_credible is 1, no new missing or unreadable users are counted',
  wrong_access:
    'Customers, also held ones, that lack access (lost) or have access that the database denies (undue)',
  answers_not_credible:
    '1: the answers of the service to checks are not credible: of users picked at random, many are missing or unreadable',
  commit_to_verified_seconds:
    'Seconds from the commit of a change to the GET that showed it, over the last 1,000 such changes; 0: no such change',
} as const

/** `by`: the label that tells several values apart. */
type Value = number | { readonly by: string; readonly values: Readonly<Record<string, number>> }

function each<Name extends string>(by: string, names: readonly Name[], amount: (name: Name) => number) {
  return { by, values: Object.fromEntries(names.map((name) => [name, amount(name)])) }
}

function seconds(ms: number | null | undefined): number {
  return Math.max(0, (ms ?? 0) / 1000)
}

const LANES = Object.keys(LANE) as (keyof typeof LANE)[]
const STAGES = ['due', 'queued', 'active', 'waiting'] as const
const STATES = ['idle', 'rejected', 'failing', 'held', 'released', 'discarded'] as const
const SWEEP_KINDS = ['backfill', 'mapping', 'gap', 'resync', 'check'] as const
const BRAKE_KINDS = HELD_KINDS.filter((kind) => kind !== 'truncated')

/** Null: it is not known, and is not shown; a nought would say that all is well. */
function valuesOf(tables: Tables): Readonly<Record<keyof typeof HELP, Value | null>> {
  const { owed, outbox, states, customers, unknown } = tables.overview
  const { sweeps, brake, pace, drift } = tables
  const settled = STATES.reduce((sum, state) => sum + (states[state] ?? 0), 0)
  /** No claim has ended for these yet. */
  const isNew = Math.max(0, customers - settled)
  const compared = (kind: string) => sweeps.unfinished.find((sweep) => sweep.kind === kind)?.customers ?? 0
  const brakeOf = (kind: string) => brake.find((of) => of.kind === kind)
  const missed = each('how', MISSED_HOW, (how) => (sweeps.check?.missed[how] ?? 0) + sweeps.missedSince[how])
  const hasMissed = MISSED_HOW.some((how) => sweeps.missedSince[how] > 0)
  const stopped = pace && isStopped(pace)
  const { coverage } = drift
  return {
    owed: each('lane', LANES, (lane) => owed[lane]),
    owed_stage: each('stage', STAGES, (stage) => owed[stage]),
    oldest_owed_age_seconds: seconds(owed.oldestAgeMs),
    waits_for_worker_seconds: seconds(owed.waitsForWorkerMs),
    unknown_customers: unknown,
    customers: each('state', ['new', ...STATES], (state) => (state === 'new' ? isNew : (states[state] ?? 0))),
    outbox_rows: outbox.rows,
    outbox_bytes: outbox.bytes,
    outbox_oldest_age_seconds: seconds(outbox.oldestAgeMs),
    queue_leases: owed.queued,
    sweep_customers: each('kind', SWEEP_KINDS, compared),
    capture_missed: sweeps.check || hasMissed ? missed : null,
    capture_check_age_seconds: sweeps.check && seconds(sweeps.check.silentMs),
    held_customers: each('kind', HELD_KINDS, (kind) => brakeOf(kind)?.held ?? 0),
    brake_tripped: each('kind', BRAKE_KINDS, (kind) => Number((brakeOf(kind)?.trippedAt ?? null) !== null)),
    pace_rate: pace?.rate ?? null,
    pace_ceiling: pace?.ceiling ?? null,
    pace_hold_seconds: pace && seconds(pace.heldForMs),
    queue_room: pace && (stopped ? 0 : roomFor(mostAt(pace.rate), owed.queued)),
    breaker_open: pace && Number(pace.breaker === 'open'),
    breaker_trying: pace && Number(pace.breaker === 'trying'),
    verifiable_customers: coverage.customers,
    verified_customers: coverage.within,
    verification_overdue_customers: coverage.overdue,
    oldest_verified_age_seconds: seconds(coverage.oldestAgeMs),
    findings: { by: 'kind', values: drift.open },
    wrong_access: { by: 'access', values: drift.access },
    answers_not_credible: Number(drift.notCredible !== null),
    commit_to_verified_seconds: {
      by: 'quantile',
      values: { '0.5': seconds(coverage.proof?.medianMs), '0.95': seconds(coverage.proof?.p95Ms) },
    },
  }
}

/** As Prometheus text. It is the same in every worker of an installation: take the largest, no sum. */
export async function showTables(tables: Tables): Promise<string> {
  const metrics = makeMetrics({ process: false })
  const values = valuesOf(tables)
  for (const name of Object.keys(HELP) as (keyof typeof HELP)[]) {
    const value = values[name]
    const help = HELP[name]
    if (value === null) continue
    if (typeof value === 'number') metrics.gauge(name, help, {})({}, value)
    else {
      const put = metrics.gauge(name, help, { [value.by]: Object.keys(value.values) })
      for (const [of, amount] of Object.entries(value.values)) put({ [value.by]: of }, amount)
    }
  }
  return await metrics.text()
}
