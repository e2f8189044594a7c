// A run of drift: it checks all customers, owes the repairs that were asked for, and reports what it found.
import { randomBytes } from 'node:crypto'
import { openMarks } from '../capture/marks.ts'
import type { Config } from '../config/config.ts'
import { digestOf, readConditions } from '../customers/conditions.ts'
import { describeCustomers } from '../customers/describe.ts'
import { roleBehind } from '../database/pool.ts'
import { doneOf, soFar } from '../drift/agenda.ts'
import { allCustomers, type CustomerSource, populationOf } from '../drift/all-customers.ts'
import { makeChecking } from '../drift/checking.ts'
import { setCredible } from '../drift/evidence.ts'
import { countFoundLater, readFound } from '../drift/found.ts'
import { readPreconditions } from '../drift/preconditions.ts'
import { repairFound } from '../drift/repair.ts'
import { makeRunGate, type RunEnd } from '../drift/run-gate.ts'
import { beginDrift, type DriftRun, driveRun, endDrift, findDrift, readTime } from '../drift/runs.ts'
import { totalOf } from '../drift/tally.ts'
import type { Shown } from '../drift/words.ts'
import { findMapping, mappingChanged } from '../ledger/generation.ts'
import { databaseError } from '../ledger/reachable.ts'
import { RollcallError } from '../model/errors.ts'
import { sleep } from '../ops/time.ts'
import { readPace } from '../pace/read.ts'
import { driftingOf } from '../report/conclude.ts'
import { counted, figure, minute, renderRate } from '../report/figures.ts'
import type { Report } from '../report/report.ts'
import { renderMark } from './attention.ts'
import type { DriftAsked } from './drift-options.ts'
import { estimateOf, headOf, readTrend } from './drift-report.ts'
import { inTurn } from './in-turn.ts'
import type { Io } from './io.ts'
import type { Progress } from './progress.ts'
import { warn } from './render.ts'
import { type Syncing, withSync } from './with-sync.ts'

type Asking = { readonly config: Config; readonly asked: DriftAsked; readonly progress: Progress }

type Reporting = Asking & Syncing

/** Two at a time would only be twice the load. */
export async function serviceReport(io: Io, asking: Asking): Promise<Report> {
  return await withSync(io, { config: asking.config, by: 'drift' }, async (syncing) => {
    const { pool, warnings } = syncing.opened
    warn(io, [...warnings, ...(await openMarks(pool)).map(renderMark)])
    const say = () => io.err('waiting: another `rollcall drift` is under way')
    const work = () => report(io, { ...asking, ...syncing })
    const done = await inTurn({ pool, signal: io.stop, say }, 'run', work)
    if (!done) throw io.stop.reason
    return done
  })
}

async function report(io: Io, reporting: Reporting): Promise<Report> {
  const { config, asked, progress, opened, calls, probe } = reporting
  const { pool } = opened
  const ceiling = (await readPace(pool))?.ceiling
  if (ceiling !== undefined && asked.rate !== null && asked.rate > ceiling)
    io.err(`note: the ceiling of the pace is ${renderRate(ceiling)}; --rate ${asked.rate} cannot exceed it`)
  if (asked.credibleBy) await setCredible(pool, asked.credibleBy)
  const { run: begun, allCustomers: customers, goesOn } = await begin(io, reporting)
  let kept = goesOn
  const values = new Map<string, readonly Shown[]>()
  const { run, end, repaired } = await carryOut().catch((error) => {
    const known = databaseError(error, { role: roleBehind(pool) }) ?? error
    throw kept ? keptBeyond(io, known, asked.resume) : known
  })
  if (end.kind === 'refused') throw await refusal(end.why, reporting)
  const endedAt = await readTime(pool)
  const credible = end.kind !== 'not-credible'
  if (end.kind !== 'stopped') await endDrift(pool, run, credible)
  const { tally, suspects, found } = run.agenda
  const findings = credible ? await readFound(pool, found) : []
  const done = doneOf(run.agenda)
  const all = end.kind === 'complete' && asked.sample === null
  // A run of some customers cannot tell which of them another run means; one that was stopped has not come to all.
  const tellsLater = all && asked.where.length === 0
  return {
    ...headOf({ ...reporting, origin: reporting.env.SERVICE_URL }),
    ...{ startedAt: run.startedAt, endedAt },
    outcome: end.kind === 'stopped' ? { ...end, resume: asked.resume } : end,
    // Customers come and go meanwhile: a customer that is gone before the run came to it was not left out.
    population: all ? done : Math.max(run.population, done),
    chosen: done,
    ...{ counts: tally, suspected: suspects.checked },
    foundLater: tellsLater ? await countFoundLater(pool, found, run.startedAt) : null,
    estimate: asked.sample === null || !credible ? null : estimateOf(tally, run.population, done),
    coverage: null,
    repair: repaired && { owed: repaired.owed.length, held: repaired.held.length },
    trend: await readTrend(pool, run.id),
    findings: findings.map((finding) => ({ ...finding, shown: values.get(finding.id) ?? [] })),
  }

  /** Checks all customers first; repairs only what is credible as a whole. */
  async function carryOut() {
    const { context, readCustomers, pace, binding } = opened
    const { fingerprint } = config
    const { sample } = asked
    const { seed, startedAt, population } = begun
    const from = doneOf(begun.agenda)
    let { agenda } = begun
    const show = (halt: string | null) =>
      progress.show({
        ...{ verb: 'handled', done: doneOf(agenda), from, note: newsOf(agenda), halt },
        total: Math.min(population, sample ?? population),
      })
    const gate = makeRunGate({
      preconditions: () => readPreconditions(pool, { fingerprint, binding, pace }),
      ...{ rate: asked.rate, onBeat: (stopped) => show(stopped ? HALT : null) },
      probe: () => pace.probeIfDue(probe),
      ...{ sleep, signal: io.stop, monotonic: () => performance.now() },
    })
    const drawing = { ...customers, seed, startedAt, sample, readCustomers }
    const { run, end } = await driveRun({
      ...{ pool, fingerprint, gate, run: begun, sleep, signal: io.stop },
      allCustomers: (from) => allCustomers(drawing, from),
      ...makeChecking({ pool, readCustomers, context, log: calls.add, repair: false }),
      onChecks(checked, run) {
        for (const { findingId, findingState, shown } of asked.showValues ? checked : [])
          if (findingId !== null && findingState === 'found') values.set(findingId, shown)
        agenda = run.agenda
        show(null)
      },
      onKept() {
        kept = true
      },
      now: () => performance.now(),
    })
    if (!asked.repair || end.kind !== 'complete') return { run, end, repaired: null }
    const repairing = { pool, brake: context.brake, lag: config.timing }
    return { run, end, repaired: await repairFound(repairing, run.agenda.found, startedAt) }
  }
}

/** A Postgres that was restarted costs nothing but the moment; a caller that does not know that begins anew. */
function keptBeyond(io: Io, error: unknown, resume: string): unknown {
  const kept = `The results are kept. To continue, run within a day: ${resume}`
  if (error instanceof RollcallError)
    return new RollcallError(error.code, [...error.details, kept], { cause: error })
  io.err(kept)
  return error
}

async function begin(io: Io, { config, asked, opened, env }: Reporting) {
  const { pool } = opened
  const shape = await describeCustomers(pool, config)
  const conditions = await readConditions(pool, config, asked.where)
  const allCustomers: CustomerSource = { pool, shape, conditions, signal: io.stop }
  const { sample, repair } = asked
  const where = digestOf(conditions, env.ROLLCALL_DIGEST_KEY)
  const { generation } = opened.mapping
  const wanted = { options: { sample, where, repair }, generation }
  const found = asked.restart ? null : await findDrift(pool, wanted, performance.now())
  if (found) {
    const done = counted(doneOf(found.agenda), 'customer')
    io.err(
      `this command continues the unfinished run of ${minute(found.startedAt)} (${done} done); --restart starts over`,
    )
    if (asked.showValues)
      io.err(
        'note: the report will show no values for differences that were found before this run was continued',
      )
    return { run: found, allCustomers, goesOn: true }
  }
  const population = await populationOf(allCustomers)
  const seed = randomBytes(8).readBigInt64LE().toString()
  const run = await beginDrift(pool, wanted, { seed, population })
  return { run, allCustomers, goesOn: false }
}

async function refusal(why: Extract<RunEnd, { kind: 'refused' }>['why'], { config, opened }: Reporting) {
  if (why !== 'mapping') return new RollcallError('DRIFT_TOO_EARLY', [TOO_EARLY[why]])
  const mapping = await findMapping(opened.pool, config.fingerprint)
  if (mapping && !mapping.current) return mappingChanged(mapping)
  return new RollcallError('TARGET_CHANGED', ['the ledger was bound to another service meanwhile'])
}

const TOO_EARLY = {
  unswept: 'a changed mapping is active, but workers have not compared all customers with it yet',
  gap: 'capture has a gap: run a worker, which compares all customers',
}

const HALT = 'calls are stopped: see `rollcall pace`'

function newsOf(agenda: DriftRun['agenda']): string {
  const silent = totalOf(soFar(agenda).noAnswer)
  const unclear = silent > 0 ? `, ${figure(silent)} without a clear answer` : ''
  const later = agenda.waiting.filter(({ last }) => last !== null).length
  const again = later > 0 ? `, ${figure(later)} to check again` : ''
  return `${figure(driftingOf(agenda.tally))} differ${unclear}${again}`
}
