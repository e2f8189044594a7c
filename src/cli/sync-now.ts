import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { type RedactedStep, redactedStep } from '../explain/redact.ts'
import { makeCallLog } from '../ledger/call-log.ts'
import { makeClaim } from '../ledger/claim.ts'
import { makeEnd } from '../ledger/ending.ts'
import { mappingChanged, readStanding } from '../ledger/generation.ts'
import { type Lease, unlease } from '../ledger/lease.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { processName } from '../ops/process-name.ts'
import { sleep, systemClock } from '../ops/time.ts'
import { namedService } from '../service/target.ts'
import { BrokenOff, type JobResult, makeJob } from '../sync/job.ts'
import { claimLastsMs } from '../sync/time-needed.ts'
import { JUST_WRITTEN } from '../sync/turn.ts'
import { type Opened, openSync } from '../worker/context.ts'
import { logCalls } from '../worker/log.ts'
import { makeProbe } from '../worker/probe.ts'
import { noteAndLease } from '../worker/sync-one.ts'
import { SYNC_ENV } from './binding.ts'
import type { ExitCode, Io } from './io.ts'
import { checkKnown, namedKeys } from './named.ts'
import { asJson, details, shown } from './render.ts'
import { sayStep } from './say-step.ts'

type Asked = { readonly [option in 'look' | 'removed' | 'json']?: boolean } & {
  readonly config: Config
  /** As typed. */
  readonly keys: readonly string[]
}

/** `rollcall sync <key…>`: past the queue, one customer after the other, each step told. */
export async function syncNow(io: Io, asked: Asked): Promise<ExitCode> {
  const { config, keys: given, look = false, removed = false, json = false } = asked
  const env = readEnv(io.env, { need: SYNC_ENV })
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  const target = namedService(env.SERVICE_URL, config)
  const onTrouble = () => io.err('note: calls may be missing in the log of calls')
  const calls = makeCallLog({ pool: opened.pool, by: processName('sync'), sleep, onTrouble })
  const logCall = logCalls(calls)
  try {
    if (!opened.standing.current) throw mappingChanged(opened.standing)
    const { pool } = opened
    const keys = await namedKeys(io, opened, given)
    const { rows } = await opened.readCustomers(keys)
    const missing = keys.filter((key) => rows.get(key) === null)
    if (!removed) await checkKnown(pool, missing)
    let steps: RedactedStep[] = []
    const { context, pace, binding } = opened
    const job = makeJob({
      context,
      claim: makeClaim(pool, { lastsMs: claimLastsMs(config), binding, fingerprint: config.fingerprint }),
      end: makeEnd(pool),
      ...{ clock: systemClock, stopping: io.stop, abort: io.stop, look },
      observe: (key, step) => {
        logCall(key, step)
        const redacted = redactedStep(step)
        steps.push(redacted)
        if (!json) for (const text of sayStep(redacted)) io.out(text)
      },
    })
    const probe = makeProbe({
      ...{ pool, users: context.users, signal: io.stop },
      log: (entry) => calls.add(entry),
    })
    // There may be no worker that would find out whether the service works again.
    const mayCall = async () => {
      if ((await pace.rate()) > 0) return true
      await pace.tend(probe)
      return (await pace.rate()) > 0
    }
    const syncOne = makeSyncOne({ io, opened, job, mayCall, last: () => steps.at(-1) })
    const results: Synced[] = []
    for (const key of keys) {
      steps = []
      if (!json) io.out(`customer ${shown(key)} at ${sayService(target)}`)
      await syncOne(key)
      results.push({ key, target, steps })
    }
    if (json) io.out(asJson(results))
    return exitFor(results)
  } finally {
    await calls.close()
    await opened.close()
  }
}

type Synced = {
  readonly key: CustomerKey
  readonly target: NamedService
  readonly steps: readonly RedactedStep[]
}

function exitFor(results: readonly Synced[]): ExitCode {
  const ends = results.map(({ steps }) => {
    const last = steps.at(-1)
    return last?.step === 'ended' && last.end.kind === 'settle' ? last.end.state : null
  })
  if (ends.includes(null)) return 1
  return ends.every((state) => state === 'idle') ? 0 : 3
}

const WAITING = {
  busy: 'waiting: a worker has it under way',
  'just-written': 'waiting: it was written a moment ago, and the service may show it late',
  'too-early': 'waiting: an earlier call was a moment ago, or its outcome is not known yet',
} as const

function say(io: Io, text: string): void {
  for (const line of details([['', text]])) io.err(line)
}

const PAUSED = 'not now: nobody calls the service at present; `rollcall pace` says why'

type Options = {
  readonly io: Io
  readonly opened: Pick<Opened, 'pool' | 'context'>
  readonly job: (lease: Lease) => Promise<JobResult>
  readonly mayCall: () => Promise<boolean>
  readonly last: () => RedactedStep | undefined
}

/** Syncs one customer at a time, past the queue, and waits for whatever it has to wait for. */
function makeSyncOne({ io, opened, job, mayCall, last }: Options): (key: CustomerKey) => Promise<void> {
  const { pool, context } = opened
  const { config } = context

  /** Whether a claim was made; else whether it is worth another try at once. */
  async function attempt(lease: Lease): Promise<'claimed' | 'again' | 'not-now'> {
    const open = await mayCall()
    if (open && (await job(lease).catch(unwrapped))) return 'claimed'
    // Nobody waits for the lease to pass.
    await unlease(pool, [lease])
    const standing = await readStanding(pool, config.fingerprint)
    if (standing && !standing.current) throw mappingChanged(standing)
    // Its lease had passed before it was claimed, on a machine with much to do.
    return open && (await mayCall()) ? 'again' : 'not-now'
  }

  return async (key) => {
    while (!io.stop.aborted) {
      const lease = await noteAndLease({
        pool,
        key,
        leaseMs: config.timing.queueLeaseMs,
        sleep: (ms) => sleep(ms, io.stop),
        onWait: (why) => say(io, WAITING[why]),
        stop: io.stop,
      })
      const came = lease ? await attempt(lease) : 'not-now'
      if (came === 'again') continue
      if (came === 'not-now' && lease && !io.stop.aborted) say(io, PAUSED)
      const waitMs = tooSoon(last())
      if (waitMs === null) return
      say(io, WAITING['just-written'])
      await sleep(waitMs, io.stop)
    }
  }
}

function unwrapped(error: unknown): never {
  throw error instanceof BrokenOff ? error.cause : error
}

/** How long a look at the service has to wait; null when it is not what the customer waits for. */
function tooSoon(step: RedactedStep | undefined): number | null {
  if (step?.step !== 'ended' || step.end.kind !== 'retry') return null
  return step.end.reason.code === JUST_WRITTEN ? (step.end.waitMs ?? 0) : null
}
