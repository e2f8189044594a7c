import type { Config } from '../config/config.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Ending } from '../ledger/end-of-claim.ts'
import { existedBefore, type KnownRecord, type LedgerRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type FieldIssue, isOutOfScope, type Mapped, userIdOf, validUntilOf } from '../model/mapped.ts'
import { USER_FIELDS, type UserField } from '../model/user.ts'
import { backoffMs } from '../pace/backoff.ts'
import type { Called } from './call.ts'
import { conflictWaitMs, withoutConflict } from './conflict.ts'
import type { SyncContext } from './context.ts'
import { freedBy } from './freed.ts'
import { forgetUnmanaged, issuesOf, type Memory, toRecord } from './memory.ts'
import { isToErase } from './plan.ts'
import { timeNeededMs } from './time-needed.ts'
import type { Turn, TurnEnd } from './turn.ts'

type Finished = {
  readonly context: Pick<SyncContext, 'config' | 'backoff' | 'random' | 'digester'>
  readonly claim: Claim
  readonly mapped: Mapped
  readonly own: KnownRecord
  /** The record that the claim went by: perhaps what another customer's tells of this user. */
  readonly known: KnownRecord
  readonly rivals: readonly CustomerKey[]
  readonly turn: Turn
  readonly last: Called | null
  readonly end: TurnEnd
}

/** Puts the outcome of a claim into the form that is stored: what is owed next, and what is remembered. */
export function makeEnding(finished: Finished): Ending {
  const { context, claim, mapped, own, known, rivals, turn, last, end } = finished
  const { config, backoff, random, digester } = context
  const { consistencyDelayMs } = config.timing
  // A clear yes to what was sent once more says nothing of the rest.
  const taken = end.kind !== 'unknown' && turn.unclear
  const unclear =
    taken || (end.kind === 'settle' ? isGone({ known, mapped, last }) : last?.meaning === 'unclear')
  const userId = userIdOf(mapped) ?? own.userId
  const memory = remembered(config, { end, mapped, rivals, memory: turn.memory })
  const freed = freedBy({ own, turn, mapped, digester, key: claim.key })
  const effect = effectOf({ claim, turn, end })
  const isOver = unclear || effect === 'unordered'
  const { id, token, key, version, nowMs: claimedAtMs, changedAtMs, generation } = claim
  const { sure, wrote, acknowledged, erasure } = turn
  return {
    // Tried again, a yes that may be wrong is looked at first.
    kind: end.kind === 'retry' && taken ? 'unknown' : end.kind,
    ...{ id, token, key, version, claimedAtMs, changedAtMs, generation },
    // The part about what is owed next.
    failed: end.kind !== 'settle' && (end.kind === 'unknown' || end.failed),
    gapMs: config.timing.gapMs,
    backoffMs: waitOf(end, () => backoffMs(claim.attempts, backoff, random)),
    lateMs: isOver ? consistencyDelayMs : timeNeededMs(config) + consistencyDelayMs,
    replanAtMs: replanAt(end, { claim, mapped, memory }),
    // The part about what the calls have done.
    ...{ sure, wrote, acknowledged, unclear },
    lowered: turn.lowered || claim.statusDoubted || (effect === 'unknown' && claim.mayHaveWritten),
    withdrawsDoubt: (!claim.statusDoubted && !turn.landed) || (end.kind === 'retry' && acknowledged),
    ...(freed.length > 0 ? { freed } : {}),
    ...(erasure.cleared || erasure.left ? { erasure } : {}),
    lastAnswer: last && {
      method: last.method,
      status: last.outcome.kind === 'reply' ? last.outcome.status : null,
      error: last.outcome.kind === 'error' ? last.outcome.error : null,
    },
    // The part about what is up to date by now.
    looked: turn.lookups > 0,
    verified: end.kind === 'settle' && end.state === 'idle' && turn.lookups > 0 && !acknowledged,
    confirmed: [...turn.confirmed, ...notAsked(mapped, config)],
    // The part about other customers that it concerns.
    noteKeys: mapped.kind === 'user' && !newlyShared(end, own) ? [] : rivals,
    effect,
    isNew: own.isNew || own.userId !== userId,
    // The part that is remembered.
    desired: stays(end, own) ? keptDesired(own, digester.id) : digester.whole(key, mapped, config.clearWith),
    record: toRecord(memory, digester.id, {
      userId,
      ...stateOf(end, own),
      existed: existsRemotely(existedBefore(known) && known.userId === userId, turn, end),
      issues: issuesFor(mapped, turn.memory),
    }),
  }
}

/** Fields that no check compares: all but the status of a customer that is to have no access. */
function notAsked(mapped: Mapped, { onRemove }: Config): readonly UserField[] {
  const gone = isOutOfScope(mapped) || (mapped.kind === 'removed' && onRemove !== 'erase')
  return gone ? USER_FIELDS.filter((field) => field !== 'status') : []
}

/**
 * Settled since there is no such user any more. A gateway answers 404 as well while its service is away, so this is taken
 * for a yes that a look has to confirm. Also where we never knew of a user, if the row is gone or out of scope: no change will follow.
 */
function isGone({ known, mapped, last }: Pick<Finished, 'known' | 'mapped' | 'last'>): boolean {
  return last?.meaning === 'absent' && (existedBefore(known) || mapped.kind !== 'user')
}

/** Another customer's claim may overlap; an answer does not say which of them came first. */
type Effect = Pick<Finished, 'claim' | 'turn' | 'end'>
function effectOf({ claim, turn, end }: Effect): Ending['effect'] {
  const wrote = turn.wrote || claim.mayHaveWritten
  if (end.kind === 'unknown' || (wrote && !turn.sure)) return 'unknown'
  return wrote ? 'unordered' : 'known'
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
  { claim, mapped, memory }: Pick<Finished, 'claim' | 'mapped'> & { readonly memory: Memory },
): number | null {
  const { conflict } = memory
  const { nowMs, replanInMs } = claim
  const until = end.kind === 'settle' ? validUntilOf(mapped) : null
  if (conflict?.phase !== 'waiting') return until
  const waitMs = conflictWaitMs(conflict)
  const left = replanInMs !== null && replanInMs > 0 ? Math.min(replanInMs, waitMs) : waitMs
  return Math.min(nowMs + left, until ?? Number.POSITIVE_INFINITY)
}

type Remembering = Pick<Finished, 'end' | 'mapped' | 'rivals'> & { readonly memory: Memory }

/**
 * Under `unmanaged: "clear"` what was sent once is needed to know that there is something to clear. For a customer who is
 * to be erased and is not there at all no digest is kept either; the marks of an erasure are about all fields. A conflict
 * that was due and has not come again is over.
 */
function remembered(config: Config, { end, mapped, rivals, memory: last }: Remembering): Memory {
  const over = end.kind === 'settle' && last.conflict?.phase === 'due'
  const memory = over ? { ...last, conflict: null } : last
  if (isToErase({ mapped, rivals, policy: config }) && memory.remote === 'absent')
    return { ...memory, sent: {}, seen: {}, refused: {} }
  if (config.unmanaged === 'clear' || memory.erased !== null) return memory
  return forgetUnmanaged(memory, (field) => config.mapping[field] !== undefined)
}

/** After a claim: an absence is accepted where it was settled, or a create has followed; the unknown changes nothing. */
function existsRemotely(before: boolean, { memory, confirmed }: Turn, end: TurnEnd): boolean {
  if (memory.remote === 'present') return true
  const accepted = memory.remote === 'absent' && end.kind === 'settle' && end.state === 'idle'
  // This claim was shown the user, or got a clear yes: not one that may be wrong.
  return (before || memory.looked || confirmed.length > 0) && !accepted
}
