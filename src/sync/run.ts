import { timeNeededMs } from '../config/config.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Ending } from '../ledger/ending.ts'
import type { Lease } from '../ledger/lease.ts'
import { isJustWritten, type KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Permit } from '../pace/pace.ts'
import { absorb } from './absorb.ts'
import { braked, brakedEnd, makeBraking } from './brake-plan.ts'
import { type Called, callService } from './call.ts'
import { aboutService } from './classify.ts'
import type { SyncContext, SyncStep } from './context.ts'
import { isDiscardOver } from './discard.ts'
import { type ClaimResult, toEnding } from './finish.ts'
import { type Freed, freedBy } from './freed.ts'
import { userIdOf } from './map.ts'
import type { Memory } from './memory.ts'
import { type ClaimEnd, isAccessFirst, nextPlan, retry } from './next-plan.ts'
import { callFor, leavesTrial, type Plan } from './plan.ts'
import { type ClaimedCustomer, readCustomer } from './read-customer.ts'

export type SyncLeaseOptions = {
  readonly context: SyncContext
  readonly claimLease: (lease: Lease) => Promise<Claim | null>
  /** False: the ending came too late. If the claim had sent a write, the customer is marked as suspect. */
  readonly storeEnding: (ending: Ending) => Promise<boolean>
  /** `wall`: milliseconds since 1970, also while the machine sleeps. `monotonic`: never set back. */
  readonly clock: { readonly wall: () => number; readonly monotonic: () => number }
  /** No further call is started once this is aborted. */
  readonly stopping: AbortSignal
  /** Breaks off a call that is under way; its outcome is then unknown. */
  readonly abort: AbortSignal
  readonly observe: (key: CustomerKey, step: SyncStep, claim: Claim) => void
}

/** Breaks a claim off. If no ending is stored, the customer is claimed again when the claim's lifetime and the service's lag have passed. */
export class BrokenOff extends Error {
  readonly customer: CustomerKey

  constructor(customer: CustomerKey, cause: unknown) {
    super('a claim broke off', { cause })
    this.customer = customer
  }
}

/**
 * Carries out one lease: a permit, the claim (`begun` is called), the work, the ending. The clocks are read before the
 * claim is sent. A process that is suspended after that knows that its time is over, and sends nothing. Null: the lease is
 * void (its token is spent, or its time has passed), no call may be made now, or the ending came too late.
 *
 * Rejects with BrokenOff after the claim; before that with the error of the claim.
 */
export function makeSyncLease(options: SyncLeaseOptions) {
  const { context, claimLease, storeEnding, clock, stopping, abort, observe } = options
  const { lifetimeMs } = context.config.timing
  const needed = timeNeededMs(context.config)

  return async function syncLease(lease: Lease, begun: () => void = () => undefined): Promise<Ending | null> {
    const permit = await context.permits.take(stopping)
    if (!permit) return null
    const wall = clock.wall()
    const monotonic = clock.monotonic()
    const expired = AbortSignal.timeout(Math.max(0, lifetimeMs - needed))
    let claim: Claim | null = null
    try {
      claim = await claimLease(lease)
    } finally {
      if (!claim) context.permits.giveBack(permit)
    }
    begun()
    if (!claim) return null
    const run: ClaimRun = {
      claim,
      permit,
      hasTime: () => lifetimeMs - Math.max(clock.wall() - wall, clock.monotonic() - monotonic) >= needed,
      expired,
      stopping,
      abort,
      observe: (step) => observe(claim.key, step, claim),
    }
    try {
      const { ending, end, freed } = await runClaim(context, run)
      const counts = await storeEnding(ending)
      if (counts) run.observe({ step: 'ended', end })
      if (freed.length > 0) await context.wakeWaiting({ key: claim.key, freed })
      return counts ? ending : null
    } catch (error) {
      throw new BrokenOff(claim.key, error)
    }
  }
}

export type ClaimRun = Pick<SyncLeaseOptions, 'stopping' | 'abort'> & {
  readonly claim: Claim
  /** For the next call; the first one is taken before the claim. Null: it is used, or was given back. */
  permit: Permit | null
  /** Whether a call may still be started: it must end within the claim's lifetime. */
  readonly hasTime: () => boolean
  /** Aborted when that time is over, so that no call waits beyond it; `hasTime` decides. */
  readonly expired: AbortSignal
  readonly observe: (step: SyncStep) => void
}

/** Carries out one claim: read the customer as it is now, make its calls, and make the ending. */
export async function runClaim(
  context: SyncContext,
  run: ClaimRun,
): Promise<{ readonly end: ClaimEnd; readonly ending: Ending; readonly freed: readonly Freed[] }> {
  const { claim } = run
  try {
    const customer = await readCustomer(context, claim)
    const result = customer.end
      ? { memory: customer.memory, last: null, end: customer.end }
      : await makeCalls(context, run, customer)
    // `memory` and `end` are those of the result.
    const finished = { context, claim, ...customer, ...result }
    return { end: result.end, ending: toEnding(finished), freed: freedBy(finished) }
  } finally {
    giveBackPermit(context, run)
  }
}

/** The service may go on showing for a while what was there before our last write. */
function lookupAfter({ config }: SyncContext, { writtenAgoMs }: KnownRecord): number {
  const lagMs = config.timing.consistencyDelayMs
  return isJustWritten({ writtenAgoMs }, lagMs) ? lagMs - Math.max(0, writtenAgoMs ?? 0) : 0
}

/** Decide, call, learn, and decide again with what was learnt, until there is an end. */
async function makeCalls(
  context: SyncContext,
  run: ClaimRun,
  customer: ClaimedCustomer,
): Promise<ClaimResult> {
  const { mapped, record, latestRecord, claimants, digests } = customer
  const { config, users } = context
  const { key, id, attempts } = run.claim
  run.observe({ step: 'mapped', mapped })
  const situation = {
    mapped,
    claimants,
    policy: config,
    digests,
    lookupAfterMs: lookupAfter(context, latestRecord), // plain: not used
    consistencyDelayMs: config.timing.consistencyDelayMs, // plain: not used
    accessFirst: isAccessFirst(attempts, record.reason), // plain: false
  }
  const braking = makeBraking(context, key, customer)
  let { memory } = customer
  let last: Called | null = null
  for (;;) {
    const proposed = nextPlan(memory, situation)
    const next = await braked(braking, proposed, memory) // plain: as proposed
    run.observe({ step: 'planned', plan: next.plan })
    if ('end' in next) return await atEnd(next.end)
    await leaveTrace(context, run.claim, next.plan, customer)
    const passed = await takePermit(context, run, memory)
    if ('end' in passed) return { memory, last, end: passed.end }
    const call = callFor(next.plan)
    last = await callService(users, { call, userId: userIdOf(mapped) ?? '', signal: run.abort })
    run.observe({ step: 'answered', plan: next.plan, called: last })
    const after = absorb(memory, { plan: next.plan, called: last }, situation)
    memory = after.memory
    await context.report({ id, epoch: passed.permit.epoch, ...aboutService(last) })
    if (after.end) return await atEnd(after.end)
  }

  async function atEnd(proposed: ClaimEnd): Promise<ClaimResult> {
    return { ...(await brakedEnd(braking, memory, proposed)), last } // plain: as proposed
  }
}

/** Stores what must be known after a crash during the call. Plain: nothing. */
async function leaveTrace(context: SyncContext, claim: Claim, plan: Plan, customer: ClaimedCustomer) {
  const { config, markStatusUnknown, markAsked, endDiscard } = context
  if (plan.kind === 'lookup') return
  // Otherwise the trial in the record would seem to have ended by itself.
  if (customer.latestRecord.sentStatus === 4 && leavesTrial(plan)) await markStatusUnknown(claim)
  // Otherwise no later claim would look for the user of a customer who has left the scope.
  if (customer.record.remote === 'unasked' && config.scope) await markAsked(claim.key)
  // The write is for another desired user than the discarded one.
  if (isDiscardOver(customer)) await endDiscard(claim)
}

/** A customer waits for this long if no call may be made now. */
const PAUSED_MS = 5000
const STOPPING = retry({ code: 'stopping' }, { failed: false, waitMs: 0 })

/**
 * Each call of a claim needs a permit of the common pace, and enough of the claim's lifetime for the whole request. Where
 * one of them is missing, the claim ends. Plain: the permit that was taken before the claim still stands, and is used.
 */
export async function takePermit(
  context: Pick<SyncContext, 'permits'>,
  run: ClaimRun,
  { made }: Pick<Memory, 'made'>,
): Promise<{ readonly permit: Permit } | { readonly end: ClaimEnd }> {
  const { permits } = context
  if (run.stopping.aborted) return { end: STOPPING }
  // Taken before all processes were told to stop, or to slow down.
  if (run.permit && !permits.stands(run.permit)) giveBackPermit(context, run)
  // Reading the customer or a call has used the time up: the same would happen at once again, and for ever.
  if (!run.hasTime()) return { end: retry({ code: 'out-of-time' }) }
  // The wait may not be worth going on: the service may have asked all processes to wait for an hour.
  const over = AbortSignal.any([run.stopping, run.expired])
  run.permit ??= await permits.take(over)
  const { permit } = run
  if (!permit && !over.aborted)
    return { end: retry({ code: 'paused' }, { failed: false, waitMs: PAUSED_MS }) }
  // Last of all, so that nothing stands between this reading of the clock and the call.
  if (run.stopping.aborted) return { end: STOPPING }
  // Our own pace left no time, which is nothing against the customer.
  if (!permit || !run.hasTime()) {
    const waitMs = made.length > 0 ? PAUSED_MS : 0
    return { end: retry({ code: 'out-of-time' }, { failed: false, waitMs }) }
  }
  run.permit = null
  return { permit }
}

export function giveBackPermit({ permits }: Pick<SyncContext, 'permits'>, run: ClaimRun): void {
  if (run.permit) permits.giveBack(run.permit)
  run.permit = null
}
