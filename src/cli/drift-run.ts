import { randomBytes } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { describeCustomers } from '../customers/describe.ts'
import { doneOf } from '../drift/agenda.ts'
import { readCircumstances } from '../drift/circumstances.ts'
import { countEverybody, type Everybody } from '../drift/draw.ts'
import { everybody } from '../drift/everybody.ts'
import { readFound } from '../drift/found.ts'
import { makeGate, type RunEnd } from '../drift/gate.ts'
import { type Mended, mendFound } from '../drift/mend.ts'
import { driveRun } from '../drift/run.ts'
import { beginRun, endRun, findRun, type Run, readPast } from '../drift/runs.ts'
import { makeVerify } from '../drift/verify.ts'
import type { Shown, Verified } from '../drift/words.ts'
import { alone } from '../ledger/alone.ts'
import { type CallLog, makeCallLog } from '../ledger/call-log.ts'
import { mappingChanged, readStanding } from '../ledger/generation.ts'
import { RollcallError } from '../model/errors.ts'
import { processName } from '../ops/process-name.ts'
import { sleep } from '../ops/time.ts'
import { makeProbing } from '../pace/probing.ts'
import { driftingOf } from '../report/conclude.ts'
import { figure, minute } from '../report/figures.ts'
import type { Report } from '../report/report.ts'
import { type Opened, openSync } from '../worker/context.ts'
import { makeProbe } from '../worker/probe.ts'
import { type Asked, commandOf } from './drift-options.ts'
import { showProgress } from './drift-progress.ts'
import { estimateOf, optionsOf, outcomeOf, repairOf, targetOf, trendOf } from './drift-report.ts'
import type { Io } from './io.ts'
import { shown } from './shown.ts'
import { VERSION } from './version.ts'

type Options = {
  readonly config: Config
  readonly asked: Asked
  /** As `--config` names it. */
  readonly configFile: string | undefined
}

/** Verifies customers at the service, and says what it has found. */
export async function serviceReport(io: Io, options: Options): Promise<Report> {
  const { config } = options
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY', 'ROLLCALL_DIGEST_KEY'],
  })
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  const onTrouble = () => io.err('note: calls may be missing in the log of calls')
  const calls = makeCallLog({ pool: opened.pool, by: processName('drift'), sleep, onTrouble })
  try {
    for (const warning of opened.warnings) io.err(`warning: ${shown(warning)}`)
    if (!opened.standing.current) throw mappingChanged(opened.standing)
    return await whenAlone(io, opened, () =>
      report(io, { ...options, opened, calls, origin: env.SERVICE_URL }),
    )
  } finally {
    await calls.close()
    await opened.close()
  }
}

const ALONE_POLL_MS = 500

/** Two at a time would only be twice the load; the workers' rounds are no matter to either. */
async function whenAlone<T>(io: Io, { pool }: Opened, work: () => Promise<T>): Promise<T> {
  for (let waited = false; ; waited = true) {
    const done = await alone(pool, 'run', async () => ({ value: await work() }))
    if (done) return done.value
    if (!waited) io.err('waiting: another `rollcall drift` is under way')
    await sleep(ALONE_POLL_MS, io.stop)
    io.stop.throwIfAborted()
  }
}

type Reporting = Options & { readonly opened: Opened; readonly calls: CallLog; readonly origin: string }

async function report(io: Io, reporting: Reporting): Promise<Report> {
  const { config, asked, opened, origin } = reporting
  const { pool } = opened
  const begun = await begin(io, reporting)
  const values = new Map<string, readonly Shown[]>()
  const { run, end, mended } = await carryOut(io, reporting, {
    ...begun,
    onLooks: (verified) => {
      if (asked.showValues) keepValues(verified, values)
    },
  })
  if (end.kind === 'refused') throw await refusal(end.why, reporting)
  const endedAt = new Date().toISOString()
  if (end.kind !== 'stopped') await endRun(pool, run, end.kind)
  const { tally, suspected, found } = run.agenda
  const credible = end.kind !== 'not-credible'
  const findings = credible ? await readFound(pool, found) : []
  const done = doneOf(run.agenda)
  return {
    version: 1,
    writtenBy: VERSION,
    target: targetOf(origin, config),
    ...{ startedAt: run.startedAt, endedAt, options: optionsOf(asked) },
    outcome: outcomeOf(end, commandOf(asked, reporting.configFile)),
    population: Math.max(run.population, done),
    chosen: done,
    ...{ counts: tally, suspected },
    estimate: asked.sample === null || !credible ? null : estimateOf(tally, run.population, done),
    coverage: null,
    repair: mended && repairOf(mended, config.reconcile.maxShare),
    trend: trendOf(await readPast(pool, run.id)),
    findings: findings.map((finding) => ({ ...finding, shown: values.get(finding.id) ?? [] })),
  }
}

function keepValues(verified: readonly Verified[], values: Map<string, readonly Shown[]>): void {
  for (const { findingId, standing, shown } of verified)
    if (findingId !== null && standing === 'found') values.set(findingId, shown)
}

type Begun = { readonly run: Run; readonly everybody: Everybody }

/** The run of the same call that was stopped, or a new one. */
async function begin(io: Io, { config, asked, opened }: Reporting): Promise<Begun> {
  const { pool } = opened
  const shape = await describeCustomers(pool, config)
  const everybody: Everybody = { pool, shape, conditions: [] }
  const { sample, repair } = asked
  const { where } = optionsOf(asked)
  const options = { sample, where, repair, fingerprint: config.fingerprint }
  const found = asked.restart ? null : await findRun(pool, options)
  if (found) {
    const done = figure(doneOf(found.agenda))
    io.err(`going on with the run of ${minute(found.startedAt)}: ${done} are done; --restart begins anew`)
    if (asked.showValues) io.err('note: of those found before, the values are not in the report')
    return { run: found, everybody }
  }
  const population = await countEverybody(everybody)
  const seed = randomBytes(8).readBigInt64LE().toString()
  const sampled = sample === null ? null : Math.min(sample, population)
  return { run: await beginRun(pool, options, { seed, population, sampled }), everybody }
}

type Driving = Begun & { readonly onLooks: (verified: readonly Verified[]) => void }
type Carried = { readonly run: Run; readonly end: RunEnd; readonly mended: Mended | null }

/** Looks at everybody first; only what can be believed as a whole is repaired. */
async function carryOut(io: Io, reporting: Reporting, driving: Driving): Promise<Carried> {
  const { config, asked, opened } = reporting
  const { pool } = opened
  const gate = gateOf(io, reporting)
  const { maxShare } = config.reconcile
  const verifying = { ...verifyOptions(reporting), maxShare }
  const showing = showProgress({ err: io.err, env: io.env, now: () => performance.now() })
  const total = driving.run.population
  try {
    const driven = await driveRun({
      ...{ pool, gate, run: driving.run, sleep, signal: io.stop },
      everybody: (from) =>
        everybody(
          {
            ...driving.everybody,
            ...{ seed: driving.run.seed, sample: asked.sample, readCustomers: opened.readCustomers },
          },
          from,
        ),
      verify: makeVerify({ ...verifying, repair: false }),
      onLooks(verified, { agenda }) {
        driving.onLooks(verified)
        showing.update({
          done: doneOf(agenda),
          of: Math.min(total, asked.sample ?? total),
          drifting: driftingOf(agenda.tally),
          waiting: agenda.waiting.length,
        })
      },
      now: Date.now,
      monotonic: () => performance.now(),
    })
    const { run, end } = driven
    if (!asked.repair || end.kind !== 'complete') return { run, end, mended: null }
    const mended = await mendFound({
      ...{ pool, gate, maxShare, signal: io.stop, found: run.agenda.found, startedAt: run.startedAt },
      verify: makeVerify({ ...verifying, repair: true }),
    })
    return { run, end: mended.end, mended }
  } finally {
    showing.close()
  }
}

function verifyOptions({ config, opened, calls }: Reporting) {
  const { pool, context, readCustomers } = opened
  const { digester } = context
  return {
    ...{ pool, config, digester, readCustomers, context },
    ...{ log: calls.add, now: Date.now },
  }
}

function gateOf(io: Io, { config, asked, opened, calls }: Reporting) {
  const { pool, context, binding, credentials } = opened
  const probe = makeProbe({
    ...{ pool, users: context.users, signal: io.stop, log: (entry) => calls.add(entry) },
    ...{ now: Date.now, random: Math.random },
  })
  const tend = makeProbing({ pool, credentials, probe, random: Math.random, onChange: () => undefined })
  return makeGate({
    circumstances: () => readCircumstances(pool, { fingerprint: config.fingerprint, binding, credentials }),
    rate: asked.rate,
    async tend() {
      if ((await tend()) === 'probed') context.permits.drop()
    },
    ...{ sleep, signal: io.stop, monotonic: () => performance.now() },
  })
}

async function refusal(
  why: Extract<RunEnd, { kind: 'refused' }>['why'],
  { config, opened }: Reporting,
): Promise<RollcallError> {
  switch (why) {
    case 'mapping': {
      const standing = await readStanding(opened.pool, config.fingerprint)
      if (standing && !standing.current) return mappingChanged(standing)
      return new RollcallError('TARGET_CHANGED', ['the records were bound to another service meanwhile'])
    }
    case 'unswept':
      return new RollcallError('DRIFT_TOO_EARLY', [
        'the mapping is applied, and not everybody who differs by it is owed a sync yet',
      ])
    case 'gap':
      return new RollcallError('DRIFT_TOO_EARLY', [
        'capture has a gap: changes may be missing that a resync finds',
      ])
    default:
      return why satisfies never
  }
}
