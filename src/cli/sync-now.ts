import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { type CallLog, makeCallLog } from '../ledger/call-log.ts'
import { makeClaim } from '../ledger/claim.ts'
import { makeEnd } from '../ledger/ending.ts'
import { readStanding, type Standing } from '../ledger/generation.ts'
import { unlease } from '../ledger/lease.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { processName } from '../ops/process-name.ts'
import { sleep, systemClock } from '../ops/time.ts'
import { makeProbing } from '../pace/probing.ts'
import { currentRate } from '../pace/row.ts'
import { describeTarget } from '../service/target.ts'
import { makeJob } from '../sync/job.ts'
import type { SyncStep } from '../sync/run.ts'
import { claimLastsMs } from '../sync/time-needed.ts'
import { JUST_WRITTEN, type TurnEnd } from '../sync/turn.ts'
import { logCalls } from '../worker/call-entry.ts'
import { type Opened, openSync } from '../worker/context.ts'
import { makeProbe } from '../worker/probe.ts'
import { noteAndLease } from '../worker/sync-one.ts'
import type { ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { line, sayStep } from './say-step.ts'
import { shown } from './shown.ts'
import { redactedStep } from './sync-json.ts'

const WAITING = {
  busy: 'waiting: a worker has it under way',
  'just-written': 'waiting: it was written a moment ago, and the service may show it late',
  'too-early': 'waiting: an earlier call was a moment ago, or its outcome is not known yet',
} as const

const PAUSED = 'not now: nobody calls the service at present; `rollcall pace` says why'

type Asked = {
  readonly config: Config
  readonly keys: readonly CustomerKey[]
  readonly look: boolean
  readonly json: boolean
}

/** `rollcall sync <key…>`: past the queue, one customer after the other, each step told. */
export async function syncNow(io: Io, { config, keys, look, json }: Asked): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'SERVICE_SECRET_KEY', 'ROLLCALL_DIGEST_KEY'],
  })
  const opened = await openSync({ config, env, onPoolError: () => undefined })
  const target = describeTarget(env.SERVICE_URL, config)
  const calls = openCallLog(io, opened)
  const logCall = logCalls(calls, systemClock.wall)
  try {
    if (!opened.standing.current) throw mappingChanged(opened.standing)
    let steps: SyncStep[] = []
    const observe = (step: SyncStep) => {
      steps.push(step)
      if (!json) for (const text of sayStep(step)) io.out(text)
    }
    const { pool, context } = opened
    const job = makeJob({
      context,
      claim: makeClaim(pool, {
        lastsMs: claimLastsMs(config),
        binding: opened.binding,
        fingerprint: config.fingerprint,
      }),
      end: makeEnd(pool),
      clock: systemClock,
      stopping: io.stop,
      abort: io.stop,
      observe: (key, step) => {
        logCall(key, step)
        observe(step)
      },
      look,
    })
    const { credentials } = opened
    const probe = makeProbe({
      ...{ pool, users: context.users, signal: io.stop },
      ...{ log: (entry) => calls.add(entry), now: systemClock.wall },
    })
    const tend = makeProbing({ pool, credentials, probe, random: Math.random, onChange: () => undefined })
    // There may be no worker that would find out whether the service works again.
    const mayCall = async () => {
      if ((await currentRate(pool, credentials)) > 0) return true
      if ((await tend()) === 'probed') context.permits.drop()
      return (await currentRate(pool, credentials)) > 0
    }
    const results: { key: CustomerKey; target: string; steps: unknown[] }[] = []
    const ends: (TurnEnd | null)[] = []
    for (const key of keys) {
      steps = []
      if (!json) io.out(`customer ${shown(key)} at ${target}`)
      let waitMs: number | null
      do {
        const lease = await noteAndLease({
          pool,
          key,
          leaseMs: config.timing.queueLeaseMs,
          sleep: (ms) => sleep(ms, io.stop),
          onWait: (why) => io.err(line('', WAITING[why])),
          stop: io.stop,
        })
        // Not claimed, because another mapping was applied or we are to stop: nobody waits for the lease to pass.
        const open = lease !== null && (await mayCall())
        if (lease && !(open && (await job(lease)))) {
          await unlease(pool, [lease])
          const standing = await readStanding(pool, config.fingerprint)
          if (standing && !standing.current) throw mappingChanged(standing)
          // Its lease had passed before it was claimed, on a machine with much to do.
          if (open && (await mayCall())) {
            waitMs = 0
            continue
          }
          if (!io.stop.aborted) io.err(line('', PAUSED))
        }
        waitMs = tooSoon(steps.at(-1))
        if (waitMs !== null) {
          io.err(line('', WAITING['just-written']))
          await sleep(waitMs, io.stop)
        }
      } while (waitMs !== null && !io.stop.aborted)
      const last = steps.at(-1)
      ends.push(last?.step === 'ended' ? last.end : null)
      results.push({ key, target, steps: steps.map(redactedStep) })
    }
    if (json) io.out(asJson(results))
    return exitFor(ends)
  } finally {
    await calls.close()
    await opened.close()
  }
}

function mappingChanged({ generation, appliedAt, earlier }: Standing): RollcallError {
  const present = `syncs go by generation ${generation}, applied ${appliedAt}`
  return new RollcallError('MAPPING_CHANGED', [earlier ? `${present}; it replaced this mapping` : present])
}

function openCallLog(io: Io, { pool }: Opened): CallLog {
  const onTrouble = () => io.err(line('note', 'calls may be missing in the log of calls'))
  return makeCallLog({ pool, by: processName('sync'), sleep, onTrouble })
}

/** How long a look at the service has to wait; null when it is not what the customer waits for. */
function tooSoon(step: SyncStep | undefined): number | null {
  if (step?.step !== 'ended' || step.end.kind !== 'retry') return null
  return step.end.reason.code === JUST_WRITTEN ? (step.end.waitMs ?? 0) : null
}

function exitFor(ends: readonly (TurnEnd | null)[]): ExitCode {
  if (ends.some((end) => end?.kind !== 'settle')) return 1
  return ends.some((end) => end?.kind === 'settle' && end.state !== 'idle') ? 3 : 0
}
