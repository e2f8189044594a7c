// Carries a run out: looks at everybody, and owes the repairs that were asked for.
import type { Config } from '../config/config.ts'
import { doneOf, soFar } from '../drift/agenda.ts'
import { type Everybody, everybody } from '../drift/everybody.ts'
import { makeSampling } from '../drift/evidence.ts'
import { makeRunGate, readPreconditions } from '../drift/gate.ts'
import { mendFound } from '../drift/mend.ts'
import { type DriftRun, driveRun } from '../drift/runs.ts'
import { silentOf } from '../drift/tally.ts'
import { makeVerify } from '../drift/verify.ts'
import type { Verified } from '../drift/words.ts'
import type { CallLog } from '../ledger/call-log.ts'
import { sleep } from '../ops/time.ts'
import { driftingOf } from '../report/conclude.ts'
import { figure } from '../report/figures.ts'
import type { Opened } from '../worker/context.ts'
import { makeProbe } from '../worker/probe.ts'
import type { DriftAsked } from './drift-options.ts'
import type { Io } from './io.ts'
import { openProgress } from './progress.ts'

export type Asking = { readonly config: Config; readonly asked: DriftAsked }

export type Reporting = Asking & {
  readonly opened: Opened
  readonly calls: CallLog
  readonly origin: string
  readonly digestKey: string
}

export type BegunDrift = { readonly run: DriftRun; readonly everybody: Everybody }

type Driving = BegunDrift & {
  readonly onLooks: (verified: readonly Verified[]) => void
  readonly onKept: () => void
}

/** Looks at everybody first; only what can be believed as a whole is repaired. */
export async function carryOut(io: Io, reporting: Reporting, driving: Driving) {
  const { config, asked, opened } = reporting
  const { pool } = opened
  using progress = openProgress(io, () => performance.now())
  const total = driving.run.population
  const from = doneOf(driving.run.agenda)
  let { agenda } = driving.run
  const show = (halt: string | null) =>
    progress.show({
      ...{ verb: 'looked at', done: doneOf(agenda), from, note: newsOf(agenda), halt },
      total: Math.min(total, asked.sample ?? total),
    })
  const gate = gateOf(io, reporting, (stopped) => show(stopped ? HALT : null))
  const driven = await driveRun({
    ...{ pool, fingerprint: config.fingerprint, gate, run: driving.run, sleep, signal: io.stop },
    everybody: (from) =>
      everybody(
        {
          ...driving.everybody,
          ...{ seed: driving.run.seed, startedAt: driving.run.startedAt, sample: asked.sample },
          readCustomers: opened.readCustomers,
        },
        from,
      ),
    verify: makeVerify({ ...verifyOptions(reporting), repair: false }),
    sample: makeSampling(verifyOptions(reporting)),
    onLooks(verified, run) {
      driving.onLooks(verified)
      agenda = run.agenda
      show(null)
    },
    onKept: driving.onKept,
    now: () => performance.now(),
  })
  const { run, end } = driven
  if (!asked.repair || end.kind !== 'complete') return { run, end, mended: null }
  const { brake } = opened.context
  const mending = { pool, brake, lag: config.timing }
  return { run, end, mended: await mendFound(mending, run.agenda.found, run.startedAt) }
}

const HALT = 'calls are stopped (rollcall pace tells why)'

function newsOf(agenda: DriftRun['agenda']): string {
  const { tally, waiting } = agenda
  const silent = silentOf(soFar(agenda))
  const unclear = silent > 0 ? `, ${figure(silent)} without a clear answer` : ''
  const again = waiting.length > 0 ? `, ${figure(waiting.length)} to look at again` : ''
  return `${figure(driftingOf(tally))} differ${unclear}${again}`
}

function verifyOptions({ config, opened, calls }: Reporting) {
  const { pool, context, readCustomers } = opened
  const { digester } = context
  return {
    ...{ pool, config, digester, readCustomers, context },
    log: calls.add,
  }
}

function gateOf(io: Io, { config, asked, opened, calls }: Reporting, onBeat: (stopped: boolean) => void) {
  const { pool, context, pace, binding } = opened
  const probe = makeProbe({
    ...{ pool, users: context.users, signal: io.stop, log: (entry) => calls.add(entry) },
  })
  return makeRunGate({
    preconditions: () => readPreconditions(pool, { fingerprint: config.fingerprint, binding, pace }),
    ...{ rate: asked.rate, onBeat },
    tend: () => pace.tend(probe),
    ...{ sleep, signal: io.stop, monotonic: () => performance.now() },
  })
}
