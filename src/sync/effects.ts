// Effects of a claim beyond its own settle: the lookups that follow, and the customers with the same user. A plain update has none.
import { type Config, timeNeededMs } from '../config/config.ts'
import type { Claim } from '../ledger/claim.ts'
import type { ForClaimants } from '../ledger/claimants.ts'
import type { Ending } from '../ledger/ending.ts'
import { existedBefore, type KnownRecord } from '../ledger/record.ts'
import type { Called } from './call.ts'
import type { CallsResult, ClaimEnd } from './next-plan.ts'
import type { ClaimedCustomer } from './read-customer.ts'

type Ended = Pick<ClaimedCustomer, 'mapped' | 'record' | 'latestRecord' | 'claimants'> & {
  readonly claim: Claim
  readonly calls: CallsResult
  readonly last: Called | null
  readonly end: ClaimEnd
}

export function forLookups(
  ended: Ended,
  { unclearYes, config }: { readonly unclearYes: boolean; readonly config: Config },
): Ending['lookups'] {
  const { claim, calls, end, last } = ended
  const { writes, lookups } = calls
  const { consistencyDelayMs } = config.timing
  // `unclearYes` stays, also if the last answer is a clear yes: that was about `country_code` alone, which was sent once more.
  const lastIsUnclear = end.kind !== 'settle' && last?.meaning === 'unclear'
  const unclear = unclearYes || isGone(ended) || lastIsUnclear
  const requestIsOver = unclear || effectOf(ended) === 'known'
  const mayBeDone = writes === 'accepted' || writes === 'lost'
  return {
    getMade: lookups > 0,
    // A request without an answer may arrive late.
    lateMs: requestIsOver ? consistencyDelayMs : timeNeededMs(config) + consistencyDelayMs,
    unclear,
    statusKnown: (!claim.statusUnknown && !mayBeDone) || (end.kind === 'retry' && writes === 'accepted'),
  }
}

/** `userId`: that of the record after the claim. */
export function forClaimants(ended: Ended, userId: string | null): ForClaimants {
  const { claim, calls, mapped, record, claimants, end } = ended
  const effect = effectOf(ended)
  const earlier = claim.statusUnknown || (effect === 'unknown' && claim.mayHaveWritten)
  return {
    effect,
    mayEndTrial: calls.mayEndTrial || earlier,
    noteKeys: mapped.kind === 'user' && !newlyShared(end, record) ? [] : claimants,
    isNewUser: record.isNew || record.userId !== userId,
  }
}

/**
 * Settled since there is no such user any more. A gateway answers 404 as well while its service is away, so this is taken
 * for a yes that a lookup has to confirm. Also where we never knew of a user, if the row is gone or out of scope: no change will follow.
 */
function isGone({ latestRecord, mapped, last, end }: Ended): boolean {
  if (end.kind !== 'settle' || last?.meaning !== 'absent') return false
  return existedBefore(latestRecord) || mapped.kind !== 'user'
}

function effectOf({ claim, calls, end }: Ended): ForClaimants['effect'] {
  const wrote = calls.writes !== 'none' || claim.mayHaveWritten
  if (end.kind === 'unknown' || (wrote && !calls.anyTrusted)) return 'unknown'
  return wrote ? 'known' : 'none'
}

/** The others were right until now, and do not know that they share their user. */
function newlyShared(end: ClaimEnd, record: KnownRecord): boolean {
  return end.reason?.code === 'shared-user-id' && record.reason?.code !== 'shared-user-id'
}
