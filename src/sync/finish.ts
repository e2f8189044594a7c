import { type Config, timeNeededMs } from '../config/config.ts'
import type { Claim } from '../ledger/claim.ts'
import type { ForClaimants } from '../ledger/claimants.ts'
import type { CallEffects, Ending, NextSync, Remembered, UpToDate } from '../ledger/ending.ts'
import { existedBefore, type KnownRecord, type LedgerRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type FieldIssue, isOutOfScope, type Mapped, userIdOf, validUntilOf } from '../model/mapped.ts'
import { USER_FIELDS, type UserField } from '../model/user.ts'
import { backoffMs } from '../pace/pace.ts'
import type { Called } from './call.ts'
import { conflictWaitMs, withoutConflict } from './conflict.ts'
import type { SyncContext } from './context.ts'
import { freedBy } from './freed.ts'
import { forgetUnmanaged, issuesOf, type Memory, toRecord } from './memory.ts'
import { isToErase } from './plan.ts'
import { resultOfCalls, type Turn, type TurnEnd } from './turn.ts'

type Finished = {
  readonly context: Pick<SyncContext, 'config' | 'random' | 'digester'>
  readonly claim: Claim
  readonly mapped: Mapped
  readonly own: KnownRecord
  /** The record that the claim went by: perhaps what another customer's tells of this user. */
  readonly basis: KnownRecord
  readonly claimants: readonly CustomerKey[]
  readonly turn: Turn
  readonly last: Called | null
  readonly end: TurnEnd
}

/** Puts the outcome of a claim into the form that is stored. */
export function toEnding(finished: Finished): Ending {
  const { claim, turn, last, end } = finished
  const { id, token, key, version, nowMs: claimedAtMs, changedAtMs, generation } = claim
  const result = resultOfCalls(turn)
  // A clear yes to what was sent once more says nothing of the rest.
  const takenForYes = end.kind !== 'unknown' && result.takenForYes
  const gone = end.kind === 'settle' && isGone(finished)
  const lastIsUnclear = end.kind !== 'settle' && last?.meaning === 'unclear'
  const unclear = takenForYes || gone || lastIsUnclear
  const effect = effectOf(claim, result, end)
  const allAnswered = unclear || effect === 'answered'
  return {
    // Tried again, a yes that may be wrong is looked up first.
    kind: end.kind === 'retry' && takenForYes ? 'unknown' : end.kind,
    ...{ id, token, key, version, claimedAtMs, changedAtMs, generation },
    ...nextSync(finished, allAnswered),
    ...callEffects(finished, result, unclear),
    ...upToDate(finished, result),
    ...forClaimants(finished, result, effect),
    ...remembered(finished, result),
  }
}

type Result = ReturnType<typeof resultOfCalls>

function nextSync({ context, claim, mapped, turn, end }: Finished, allAnswered: boolean): NextSync {
  const { config, random } = context
  const { consistencyDelayMs, gapMs } = config.timing
  return {
    failed: end.kind !== 'settle' && (end.kind === 'unknown' || end.failed),
    gapMs,
    backoffMs: waitOf(end, () => backoffMs(claim.attempts, config.timing, random)),
    // A request without an answer may arrive late.
    lateMs: allAnswered ? consistencyDelayMs : timeNeededMs(config) + consistencyDelayMs,
    replanAtMs: replanAt(end, { claim, mapped, conflict: conflictAfter(turn.memory, end) }),
  }
}

function callEffects(
  { context, claim, own, mapped, turn, last, end }: Finished,
  { sure, wrote, maybeDone, landed }: Result,
  unclear: boolean,
): CallEffects {
  const { erasure } = turn
  const freed = freedBy({ own, turn, mapped, digester: context.digester, key: claim.key })
  return {
    ...{ sure, wrote, maybeDone, unclear },
    statusKnown: (!claim.statusUnknown && !landed) || (end.kind === 'retry' && maybeDone),
    ...(freed.length > 0 ? { freed } : {}),
    ...(erasure.cleared || erasure.left ? { erasure } : {}),
    lastAnswer: last && {
      method: last.method,
      status: last.outcome.kind === 'reply' ? last.outcome.status : null,
      error: last.outcome.kind === 'error' ? last.outcome.error : null,
    },
  }
}

function upToDate(
  { context, mapped, end }: Finished,
  { lookups, maybeDone, acknowledged }: Result,
): UpToDate {
  const settled = end.kind === 'settle' && end.state === 'idle'
  return {
    lookedUp: lookups > 0,
    verified: settled && lookups > 0 && !maybeDone,
    acknowledged: [...acknowledged, ...notAsked(mapped, context.config)],
  }
}

function forClaimants(
  { claim, mapped, own, claimants, end }: Finished,
  { lowered }: Result,
  effect: Ending['effect'],
): ForClaimants {
  return {
    lowered: lowered || claim.statusUnknown || (effect === 'unknown' && claim.mayHaveWritten),
    noteKeys: mapped.kind === 'user' && !newlyShared(end, own) ? [] : claimants,
    effect,
    isNew: own.isNew || own.userId !== userIdAfter(mapped, own),
  }
}

function userIdAfter(mapped: Mapped, own: KnownRecord): string | null {
  return userIdOf(mapped) ?? own.userId
}

function remembered(finished: Finished, { acknowledged }: Result): Remembered {
  const { context, claim, mapped, own, basis, turn, end } = finished
  const { config, digester } = context
  const userId = userIdAfter(mapped, own)
  const record = toRecord(memoryAfter(finished), digester.id, {
    userId,
    ...stateOf(end, own),
    existed: existsRemotely(existedBefore(basis) && basis.userId === userId, { turn, end, acknowledged }),
    issues: issuesFor(mapped, turn.memory),
  })
  const kept = stays(end, own)
  return {
    desired: kept ? keptDesired(own, digester.id) : digester.whole(claim.key, mapped, config.clearWith),
    record,
  }
}

/** Fields that no check compares: all but the status of a customer that is to have no access. */
function notAsked(mapped: Mapped, { onRemove }: Config): readonly UserField[] {
  const gone = isOutOfScope(mapped) || (mapped.kind === 'removed' && onRemove !== 'erase')
  return gone ? USER_FIELDS.filter((field) => field !== 'status') : []
}

/**
 * Settled since there is no such user any more. A gateway answers 404 as well while its service is away, so this is taken
 * for a yes that a lookup has to confirm. Also where we never knew of a user, if the row is gone or out of scope: no change will follow.
 */
function isGone({ basis, mapped, last }: Finished): boolean {
  return last?.meaning === 'absent' && (existedBefore(basis) || mapped.kind !== 'user')
}

function effectOf(claim: Claim, result: Result, end: TurnEnd): Ending['effect'] {
  const wrote = result.wrote || claim.mayHaveWritten
  if (end.kind === 'unknown' || (wrote && !result.sure)) return 'unknown'
  return wrote ? 'answered' : 'none'
}

/** The others were right until now, and do not know that they share their user. */
function newlyShared(end: TurnEnd, record: LedgerRecord): boolean {
  return end.reason?.code === 'shared-user-id' && record.reason?.code !== 'shared-user-id'
}

/**
 * A wait of our own is kept as it is. One that the service named (Retry-After) can only lengthen the back-off:
 * a zero would have us ask without a pause, for ever.
 */
function waitOf(end: TurnEnd, backoff: () => number): number {
  const named = end.kind === 'retry' ? end.waitMs : undefined
  if (end.kind === 'retry' && !end.failed && named !== undefined) return named
  return Math.max(named ?? 0, backoff())
}

/**
 * A question to a person, or a decision, stands until a claim settles: a failed lookup must not undo it. With it stays
 * for which desired user that was.
 */
function stays(end: TurnEnd, { state }: LedgerRecord): boolean {
  if (end.kind === 'retry' && !end.failed) return true
  return end.kind !== 'settle' && (state === 'held' || state === 'discarded')
}

/** A digest of another key tells nothing any more. */
function keptDesired({ desired, digestKey }: KnownRecord, present: string): string | null {
  return digestKey === null || digestKey === present ? desired : null
}

function stateOf(end: TurnEnd, record: LedgerRecord): Pick<LedgerRecord, 'state' | 'reason'> {
  if (end.kind === 'settle') return { state: end.state, reason: end.reason }
  if (stays(end, record)) return { state: record.state, reason: record.reason }
  return { state: 'failing', reason: end.reason }
}

/** Nothing is sent for a customer who is gone, so nothing is left out either. */
function issuesFor(mapped: Mapped, memory: Memory): readonly FieldIssue[] {
  const sendable = withoutConflict(mapped, memory)
  return sendable.kind === 'user' || sendable.kind === 'rejected' ? issuesOf(sendable.issues, memory) : []
}

/**
 * When the customer is planned again though nothing has changed. A conflict waits also where the claim is tried again:
 * the next attempt would begin with the refused value.
 */
function replanAt(
  end: TurnEnd,
  { claim, mapped, conflict }: Pick<Finished, 'claim' | 'mapped'> & Pick<Memory, 'conflict'>,
): number | null {
  const { nowMs, replanInMs } = claim
  const until = end.kind === 'settle' ? validUntilOf(mapped) : null
  if (conflict?.phase !== 'waiting') return until
  const waitMs = conflictWaitMs(conflict)
  const left = replanInMs !== null && replanInMs > 0 ? Math.min(replanInMs, waitMs) : waitMs
  return Math.min(nowMs + left, until ?? Number.POSITIVE_INFINITY)
}

/** A conflict that was due and has not come again is over. */
function conflictAfter({ conflict }: Memory, end: TurnEnd): Memory['conflict'] {
  return end.kind === 'settle' && conflict?.phase === 'due' ? null : conflict
}

/**
 * Under `unmanaged: "clear"` what was sent once is needed to know that there is something to clear. For a customer who is
 * to be erased and is not there at all no digest is kept either; the marks of an erasure are about all fields.
 */
function memoryAfter({ context: { config }, end, mapped, claimants, turn }: Finished): Memory {
  const memory = { ...turn.memory, conflict: conflictAfter(turn.memory, end) }
  if (isToErase({ mapped, claimants, policy: config }) && memory.remote === 'absent')
    return { ...memory, sent: {}, seen: {}, refused: {} }
  if (config.unmanaged === 'clear' || memory.erased !== null) return memory
  return forgetUnmanaged(memory, (field) => config.mapping[field] !== undefined)
}

type After = Pick<Finished, 'turn' | 'end'> & Pick<Result, 'acknowledged'>

/** After a claim: an absence is accepted where it was settled, or a create has followed; the unknown changes nothing. */
function existsRemotely(before: boolean, { turn: { memory }, end, acknowledged }: After): boolean {
  if (memory.remote === 'present') return true
  const accepted = memory.remote === 'absent' && end.kind === 'settle' && end.state === 'idle'
  // This claim was shown the user, or got a clear yes: not one that may be wrong.
  return (before || memory.lookedUp || acknowledged.length > 0) && !accepted
}
