import { timeNeededMs } from '../config/config.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Ending } from '../ledger/ending.ts'
import type { Lease } from '../ledger/lease.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Permit } from '../pace/pace.ts'
import type { SyncContext, SyncStep } from './context.ts'
import { type ClaimRun, runClaim } from './run.ts'

type JobClock = {
  /** Wall clock, milliseconds since 1970: goes on while the machine sleeps. */
  readonly wall: () => number
  /** Monotonic milliseconds: never set back. */
  readonly monotonic: () => number
}

export type JobOptions = {
  readonly context: SyncContext
  readonly claim: (lease: Lease) => Promise<Claim | null>
  readonly end: (ending: Ending) => Promise<boolean>
  readonly clock: JobClock
  readonly stopping: AbortSignal
  readonly abort: AbortSignal
  readonly observe: (key: CustomerKey, step: SyncStep, claim: Claim) => void
  /** As in ClaimRun; default false. */
  readonly lookup?: boolean
}

/** Breaks a claim off: nothing is stored, and the customer is claimed again when the claim's lifetime has passed. */
export class BrokenOff extends Error {
  readonly customer: CustomerKey

  constructor(customer: CustomerKey, cause: unknown) {
    super('a claim broke off', { cause })
    this.customer = customer
  }
}

/**
 * `null`: the lease was void (its token is spent, or its time has passed), no call may be made now, or we are
 * stopping; nothing was done.
 */
export type JobResult = Ending | null

/**
 * Carries out one lease: a permit, the claim (`begun` is called), the work, the ending. The clocks are read before the
 * claim is sent. A process that is suspended after that knows that its time is over, and sends nothing.
 *
 * Rejects with BrokenOff after the claim, and as the claim does before it.
 */
export function makeJob(options: JobOptions) {
  const { context, claim, end, clock, stopping, abort, observe, lookup = false } = options
  const { lifetimeMs } = context.config.timing
  const needed = timeNeededMs(context.config)

  return async function job(lease: Lease, begun: () => void = () => undefined): Promise<JobResult> {
    const permit = await context.permits.take(stopping)
    if (!permit) return null
    const wall = clock.wall()
    const monotonic = clock.monotonic()
    const expired = AbortSignal.timeout(Math.max(0, lifetimeMs - needed))
    const claimed = await claimWith(permit, lease)
    begun()
    if (!claimed) return null
    const run: ClaimRun = {
      claim: claimed,
      permit,
      hasTime: () => lifetimeMs - Math.max(clock.wall() - wall, clock.monotonic() - monotonic) >= needed,
      expired,
      stopping,
      abort,
      observe: (step) => observe(claimed.key, step, claimed),
      lookup,
    }
    const { key } = claimed
    try {
      const ending = await runClaim(context, run)
      // Too late to count: the ending has seen to that.
      await end(ending)
      if (ending.freed.length > 0) await context.wakeWaiting({ key, freed: ending.freed })
      return ending
    } catch (error) {
      throw new BrokenOff(key, error)
    }
  }

  /** A permit without a claim goes back. */
  async function claimWith(permit: Permit, lease: Lease): Promise<Claim | null> {
    let claimed: Claim | null = null
    try {
      claimed = await claim(lease)
      return claimed
    } finally {
      if (!claimed) context.permits.giveBack(permit)
    }
  }
}
