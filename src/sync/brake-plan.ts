import type { Brake, HeldKind } from '../brake/brake.ts'
import { takenTogether } from '../brake/decide.ts'
import { LOCK_NOT_AVAILABLE } from '../database/transaction.ts'
import type { Reason } from '../ledger/reason.ts'
import { existedBefore } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { askBrake, type Before, hadAccess } from './brake-kinds.ts'
import type { SyncContext } from './context.ts'
import { discardedKinds, leftOf, showsUser } from './discard.ts'
import { userIdOf } from './map.ts'
import type { Memory } from './memory.ts'
import { type ClaimEnd, type NextPlan, retry } from './next-plan.ts'
import { accessAfter, isToErase, type Plan } from './plan.ts'
import type { ClaimedCustomer } from './read-customer.ts'
import type { Policy } from './write.ts'

type Braking = ReturnType<typeof makeBraking>

/** The facts about a claim that the brake is asked with. The record is the customer's own, as it was before the claim. */
export function makeBraking(
  { brake, config }: Pick<SyncContext, 'brake' | 'config'>,
  key: CustomerKey,
  found: Found & Pick<ClaimedCustomer, 'digests' | 'desiredDigest'>,
) {
  const { digests, record, desiredDigest } = found
  const discarded = takenTogether(discardedKinds(found))
  const left = discarded.filter((kind) => kind === 'repair' || kind.startsWith('clear:'))
  const before = beforeOf(found, config)
  return {
    ...{ brake: without(discarded, brake), discarded, left },
    ...{ key, digests, record, before, desiredDigest },
  }
}

type Found = Pick<ClaimedCustomer, 'mapped' | 'claimants' | 'latestRecord' | 'record'>

export function beforeOf({ mapped, claimants, latestRecord, record }: Found, policy: Policy): Before {
  return {
    existed: latestRecord.userId === userIdOf(mapped) && existedBefore(latestRecord),
    erases: isToErase({ mapped, claimants, policy }),
    hadAccess: hadAccess({ ...record, sentStatus: latestRecord.sentStatus }),
  }
}

/**
 * Decides about a plan before its call is made. A change that a person has discarded is not sent while the customer stays as
 * it was then; other changes are. Where only a part of an update is held, the rest goes.
 */
export async function braked(braking: Braking, next: NextPlan, memory: Memory): Promise<NextPlan> {
  if ('end' in next || next.plan.kind === 'lookup') return next
  const { discarded } = braking
  const answer = await unlessBusy(() => askBrake(next.plan, { ...braking, memory }))
  if (!answer) return { plan: next.plan, end: BUSY }
  const { plan, held } = answer
  if (held.length === 0) return next
  if (plan?.kind === 'patch' || plan?.kind === 'revoke') return { plan }
  const others = held.filter((kind) => !discarded.includes(kind))
  const { plan: whole } = next
  return { plan: whole, end: others.length > 0 ? heldFor(others, whole) : leftFor(braking, memory) }
}

/** The end of a claim once the brake has seen it, and the memory then. */
export async function brakedEnd(braking: Braking, memory: Memory, proposed: ClaimEnd) {
  const settles = proposed.kind === 'settle' && (proposed.state === 'idle' || memory.made.length === 0)
  const isLeft = braking.discarded.length > 0 && !showsUser(memory) && settles && proposed.state !== 'held'
  const end = isLeft ? leftFor(braking, memory) : await absenceBraked(braking, memory, proposed)
  return { end, memory: afterStop(memory, end) }
}

/** A user who was there and is not any more, with nothing left to do for it: one is settled, a mass of them is a wrong address. */
async function absenceBraked(braking: Braking, { remote }: Memory, end: ClaimEnd): Promise<ClaimEnd> {
  const { brake, key, desiredDigest, before } = braking
  const settled = end.kind === 'settle' && end.state === 'idle'
  if (!settled || remote !== 'absent' || !before.existed) return end
  const held = await unlessBusy(() => brake({ key, desiredDigest, kinds: ['absence'] }))
  if (!held) return BUSY
  return held.length === 0 ? end : heldFor(held)
}

/**
 * A customer stopped because of a lookup is looked up again before anything else: the service may be the right one
 * again. Two things count: an absence, and a status other than the one we sent.
 */
function afterStop(memory: Memory, end: ClaimEnd): Memory {
  const stopped = end.kind === 'settle' && (end.state === 'held' || end.state === 'discarded')
  if (!stopped) return memory
  const { remote, seenStatus, sentStatus } = memory
  const absent = remote === 'absent' && end.reason?.kinds?.includes('absence') === true
  const another =
    remote === 'present' && seenStatus !== null && sentStatus !== null && seenStatus !== sentStatus
  return absent || another ? { ...memory, remote: 'unknown' } : memory
}

/** A discarded kind is held without asking the brake, and counted nowhere. */
function without(discarded: readonly HeldKind[], brake: Brake): Brake {
  return async (request) => {
    const stopped = request.kinds.filter((kind) => discarded.includes(kind))
    return stopped.length > 0 ? stopped : await brake(request)
  }
}

/** Which way access goes is kept: of what is desired the ledger has a digest alone. */
function heldFor(kinds: readonly HeldKind[], plan: Plan | null = null): ClaimEnd {
  const entitles = plan && accessAfter(plan)
  const reason: Reason = { code: 'held', kinds, ...(entitles !== null && { entitles }) }
  return { kind: 'settle', state: 'held', reason }
}

/** Nothing is sent. */
function leftFor({ record: { discard } }: Braking, memory: Memory): ClaimEnd {
  const { kinds = [], fields } = (discard && leftOf(discard, memory)) ?? {}
  return { kind: 'settle', state: 'discarded', reason: { code: 'held', kinds, ...(fields && { fields }) } }
}

/** Its row may be in the hands of a process that is suspended; that is nothing against the customer. */
const BUSY = retry({ code: 'brake-busy' }, { failed: false, waitMs: 1000 })

/** Null when the brake cannot be asked now: nothing is counted then, and nothing may be sent. */
async function unlessBusy<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== LOCK_NOT_AVAILABLE) throw error
    return null
  }
}
