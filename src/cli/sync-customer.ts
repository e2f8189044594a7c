import { mappingChanged, readStanding } from '../ledger/generation.ts'
import { type Lease, unlease } from '../ledger/lease.ts'
import type { CustomerKey } from '../model/customer.ts'
import { sleep } from '../ops/time.ts'
import type { SyncStep } from '../sync/context.ts'
import type { JobResult } from '../sync/job.ts'
import { JUST_WRITTEN } from '../sync/turn.ts'
import type { Opened } from '../worker/context.ts'
import { noteAndLease } from '../worker/sync-one.ts'
import type { Io } from './io.ts'
import { labelled } from './say-step.ts'

const WAITING = {
  busy: 'waiting: a worker has it under way',
  'just-written': 'waiting: it was written a moment ago, and the service may show it late',
  'too-early': 'waiting: an earlier call was a moment ago, or its outcome is not known yet',
} as const

const PAUSED = 'not now: nobody calls the service at present; `rollcall pace` says why'

type Options = {
  readonly io: Io
  readonly opened: Pick<Opened, 'pool' | 'context'>
  readonly job: (lease: Lease) => Promise<JobResult>
  /** Whether the service may be called now. */
  readonly mayCall: () => Promise<boolean>
  /** The last step of the customer. */
  readonly last: () => SyncStep | undefined
}

/** Syncs one customer at a time, past the queue, and waits for whatever it has to wait for. */
export function makeSyncOne({
  io,
  opened,
  job,
  mayCall,
  last,
}: Options): (key: CustomerKey) => Promise<void> {
  const { pool, context } = opened
  const { config } = context

  /** Whether a claim was made; else whether it is worth another try at once. */
  async function attempt(lease: Lease): Promise<'claimed' | 'again' | 'not-now'> {
    const open = await mayCall()
    if (open && (await job(lease))) return 'claimed'
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
        onWait: (why) => io.err(labelled('', WAITING[why])),
        stop: io.stop,
      })
      const came = lease ? await attempt(lease) : 'not-now'
      if (came === 'again') continue
      if (came === 'not-now' && lease && !io.stop.aborted) io.err(labelled('', PAUSED))
      const waitMs = tooSoon(last())
      if (waitMs === null) return
      io.err(labelled('', WAITING['just-written']))
      await sleep(waitMs, io.stop)
    }
  }
}

/** How long a look at the service has to wait; null when it is not what the customer waits for. */
function tooSoon(step: SyncStep | undefined): number | null {
  if (step?.step !== 'ended' || step.end.kind !== 'retry') return null
  return step.end.reason.code === JUST_WRITTEN ? (step.end.waitMs ?? 0) : null
}
